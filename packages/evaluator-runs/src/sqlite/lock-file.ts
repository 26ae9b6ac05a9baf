import {
  CliError,
  closedOnError,
  describeSystemError,
  type FileSystem,
  printable,
  systemErrorCode,
  toFileError,
} from "evaluator-kit";
import { journalMachine, type Machine } from "../machine.ts";

/** How long a process waits for the lock, which `isRunUnderWay` has for an instant; chosen. */
const LOCK_TIMEOUT_MS = 250;

/**
 * Locks a file that a command writes, by one beside it; returns a function that unlocks it.
 *
 * @param user - What has it if it is locked, such as "page".
 * @throws CliError if another process has it, or if its folder cannot be written.
 */
export function lockBeside(path: string, user: string): () => void {
  try {
    return lockFile(`${path}.lock`);
  } catch (error) {
    const isTaken = describeSystemError(error) === null;
    if (!isTaken) throw toFileError(error, `write ${path}`);
    const message = printable`${path} is in use by another ${user}; wait for its end.`;
    throw new CliError(message, { cause: error });
  }
}

/** Creates and locks a file; returns a function that unlocks and removes it. @throws an error of SQLite if it is locked. */
export function lockFile(path: string, machine: Machine = {}): () => void {
  const { files, openDatabase } = journalMachine(machine);
  for (;;) {
    const inode = files.stat(path)?.ino ?? createdInode(path, files);
    // SQLite's lock is an OS file lock, released even after SIGKILL. It has a separate file, since the
    // journal's lock would keep readers out.
    const lock = openDatabase(path, { timeout: LOCK_TIMEOUT_MS });
    // No log on the disk: SQLite creates one with the rights of the file, which may be gone by now.
    closedOnError(lock, () => lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"));
    const unlock = () => {
      if (process.platform !== "win32") files.remove(path); // Windows keeps open files
      lock.close();
    };
    // The owner before may have removed the file while we opened it.
    if (files.stat(path)?.ino === inode) return unlock;
    lock.close();
  }
}

// An existing file is never opened here: closing it would release this process's lock on it.
function createdInode(path: string, files: FileSystem): bigint | undefined {
  try {
    files.close(files.open(path, "wx", 0o600));
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
  return files.stat(path)?.ino;
}
