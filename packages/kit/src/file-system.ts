import fs, { type BigIntStats } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import type { CliContext } from "./context.ts";
import { CliError, toFileError } from "./errors.ts";
import { printable } from "./printable.ts";

/** The operations on files that must outlast a crash; a test plays a disk that fails. */
export interface FileSystem {
  /** Opens a file with Node's flags; returns its descriptor. */
  open(path: string, flags: "a" | "r" | "wx", mode?: number): number;
  close(descriptor: number): void;
  /** Returns how many of the bytes were written. */
  write(descriptor: number, bytes: Uint8Array): Promise<number>;
  /** Resolves when a file, or the names in a folder, are on the disk. */
  sync(descriptor: number): Promise<void>;
  /** Returns undefined if there is no file. */
  stat(path: string): Pick<BigIntStats, "ino" | "mode" | "size"> | undefined;
  /** Returns where a link leads, also to a missing file; a path without a file is returned unchanged. */
  realpath(path: string): string;
  chmod(path: string, mode: number): void;
  rename(oldPath: string, newPath: string): void;
  /** Removes a file if there is one. */
  remove(path: string): void;
  /** Writes some bytes into a new file and removes it, to find out whether the disk takes any. */
  probe(path: string): void;
}

const writeBytes = promisify(fs.write);
// A full disk still makes folders and empty files.
const PROBE = Buffer.alloc(4096);

/** The files of this machine. */
export const systemFiles: FileSystem = {
  open: fs.openSync,
  close: fs.closeSync,
  write: async (descriptor, bytes) => (await writeBytes(descriptor, bytes)).bytesWritten,
  sync: promisify(fs.fsync),
  stat: (path) => fs.statSync(path, { bigint: true, throwIfNoEntry: false }),
  realpath: (path) => (fs.existsSync(path) ? fs.realpathSync(path) : followLinks(path)),
  chmod: fs.chmodSync,
  rename: fs.renameSync,
  remove: (path) => fs.rmSync(path, { force: true }),
  probe(path) {
    const descriptor = fs.openSync(path, "wx"); // what is there already is not removed
    try {
      try {
        fs.writeFileSync(descriptor, PROBE);
      } finally {
        fs.closeSync(descriptor); // where a full disk of another machine may be reported
      }
    } finally {
      systemFiles.remove(path);
    }
  },
};

// As many as Linux follows.
const MOST_LINKS = 40;

/** Returns the missing file that links lead to. */
function followLinks(path: string, linkLimit = MOST_LINKS): string {
  const isLink = fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink || linkLimit === 0) return path;
  return followLinks(resolve(dirname(path), fs.readlinkSync(path)), linkLimit - 1);
}

/** Copies a sample, a file or a folder, to a typed path. @throws CliError, also if it exists. */
export async function copySample(
  sampleUrl: string,
  typedPath: string,
  { cwd, stdout }: CliContext,
) {
  const samplePath = resolve(cwd, typedPath);
  const advice = "Name a path that does not exist yet.";
  if (fs.existsSync(samplePath))
    throw new CliError(printable`${samplePath} exists already. ${advice}`);
  await cp(new URL(sampleUrl), samplePath, { recursive: true }).catch((error: unknown) => {
    throw toFileError(error, `write ${samplePath}`, advice);
  });
  stdout.write(printable`Wrote ${samplePath}` + "\n");
}
