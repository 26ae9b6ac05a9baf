import { execFile } from "node:child_process";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "evaluator-kit/testing";
import { Client } from "pg";
import { onTestFinished } from "vitest";

const run = promisify(execFile);
const DISK_BYTES = 64 * 1024 * 1024;
const BLOCK = Buffer.alloc(64 * 1024);
// PostgreSQL does not run as root.
const NOBODY = 65_534;

/** A disk of 64 MB, for the length of a test. */
export interface SmallDisk {
  readonly path: string;
  /** Takes all the room that is left. */
  fill(): Promise<void>;
  /** Frees it. */
  clear(): Promise<void>;
}

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

/** Mounts a small disk for the length of a test. */
export async function smallDisk(): Promise<SmallDisk> {
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
  const admin = new Client(serverUrl);
  // The server is ended with the test.
  admin.on("error", () => {});
  await admin.connect();
  await admin.query(`create tablespace small location '${path}'`);
  await admin.query(`alter database ${new URL(url).pathname.slice(1)} set tablespace small`);
  await admin.end();
}
