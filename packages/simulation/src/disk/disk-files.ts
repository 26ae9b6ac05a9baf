import type { FileSystem } from "evaluator-kit";
import type { ProcessClock } from "../time/process-clock.ts";
import type { Disk, StoredFile } from "./disk.ts";
import type { DiskFaults } from "./disk-faults.ts";

// Each operation takes so long, so that a process may die between two of them.
const OPERATION_MS = 2;

/** Returns the files of a disk as a process uses them. */
export function diskFiles(disk: Disk, faults: DiskFaults, clock: ProcessClock): FileSystem {
  const open = new Map<number, { readonly path: string; readonly file: StoredFile | null }>();
  let descriptors = 2;
  const fileAt = (descriptor: number) => {
    const entry = open.get(descriptor);
    if (entry === undefined) throw systemError("EBADF", -9);
    return entry;
  };
  const files: FileSystem = {
    open(path, flags) {
      const known = disk.names.get(path) ?? null;
      if (flags === "wx" && known !== null) throw systemError("EEXIST", -17);
      const isNew = flags !== "r" && known === null;
      if (isNew && faults.next("create", clock) === "full") throw systemError("ENOSPC", -28);
      descriptors += 1;
      open.set(descriptors, { path, file: isNew ? disk.createFile(path) : known });
      return descriptors;
    },
    close: (descriptor) => void open.delete(descriptor),
    async write(descriptor, bytes) {
      await clock.wait(OPERATION_MS);
      const { file } = fileAt(descriptor);
      const fault = faults.next("write", clock);
      if (fault === "full") throw systemError("ENOSPC", -28);
      // The last of the short writes takes nothing.
      const half = faults.isLast ? 0 : Math.floor(bytes.length / 2);
      const taken = fault === "short" ? half : bytes.length;
      if (file !== null) file.bytes = Buffer.concat([file.bytes, bytes.subarray(0, taken)]);
      return taken;
    },
    async sync(descriptor) {
      await clock.wait(OPERATION_MS);
      const { path, file } = fileAt(descriptor);
      if (faults.next("sync", clock) === "sync") throw systemError("EIO", -5);
      if (file === null) disk.syncNames(path);
      else file.durable = file.bytes;
    },
    stat(path) {
      const file = disk.names.get(path);
      return file && { ino: file.inode, mode: 0o600n, size: BigInt(file.bytes.length) };
    },
    realpath: (path) => path,
    chmod() {},
    rename(from, to) {
      const file = disk.names.get(from);
      if (file === undefined) throw systemError("ENOENT", -2);
      faults.next("rename", clock);
      disk.names.delete(from);
      disk.names.set(to, file);
    },
    remove(path) {
      if (!clock.isDead) disk.names.delete(path);
    },
    probe(path) {
      files.close(files.open(path, "wx"));
      files.remove(path);
    },
  };
  return files;
}

function systemError(code: string, errno: number): Error {
  return Object.assign(new Error(`The disk failed with ${code}.`), { code, errno });
}
