import { open as openFile } from "node:fs/promises";
import type { openLineFile } from "../records/decision-log.ts";

type Open = NonNullable<Parameters<typeof openLineFile>[1]>;

/** Returns a disk of so many bytes in all; a write beyond takes what fits, the next one fails. */
export function smallDisk(bytes: number) {
  const disk = { free: bytes };
  const open: Open = async (...file) => {
    const handle = await openFile(...file);
    const write = async (buffer: Uint8Array, at: number) => {
      const length = Math.min(buffer.length - at, disk.free);
      if (length === 0) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      disk.free -= length;
      return handle.write(buffer, at, length);
    };
    return {
      write: write as typeof handle.write,
      read: handle.read.bind(handle),
      stat: handle.stat.bind(handle),
      close: handle.close.bind(handle),
    };
  };
  return { disk, open };
}
