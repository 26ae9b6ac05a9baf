import { execFile } from "node:child_process";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "evaluator-kit/testing";
import { onTestFinished } from "vitest";
import { runSql } from "./make-database.ts";

const run = promisify(execFile);
const DISK_BYTES = 64 * 1024 * 1024;
const BLOCK = Buffer.alloc(64 * 1024);
// PostgreSQL does not run as root.
const NOBODY = 65_534;

/** Returns whether this user may mount a disk here. */
export async function mayMount(): Promise<boolean> {
  const path = await mkdtemp(join(tmpdir(), "small-disk-"));
  try {
    await mount(path);
    await unmount(path);
    return true;
  } catch {
    return false;
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

async function mount(path: string): Promise<void> {
  const options = `size=${DISK_BYTES},uid=${NOBODY},gid=${NOBODY},mode=700`;
  await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
}

async function unmount(path: string): Promise<void> {
  await run("umount", ["--lazy", path]);
}

/** Mounts a disk of 64 MB for the length of a test; `fill` uses all its space, and `clear` frees it. */
export async function smallDisk() {
  const path = await temporaryFolder();
  await mount(path);
  onTestFinished(() => unmount(path));
  const filler = join(path, "filler");
  return {
    path,
    async fill() {
      const file = await open(filler, "w");
      try {
        for (;;) await file.write(BLOCK);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        await file.close();
      }
    },
    clear: () => rm(filler),
  };
}

/** Moves a database to another disk; the server's own log stays where it is. */
export async function moveTo(
  path: string,
  { serverUrl, url }: { serverUrl: string; url: string },
): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  const create = `create tablespace small location '${path}'`;
  await runSql(serverUrl, create, `alter database ${database} set tablespace small`);
}
