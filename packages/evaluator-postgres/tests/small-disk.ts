import { execFile } from "node:child_process";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { temporaryFolder } from "evaluator-cli-kit/testing";
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
  /** Gives it back. */
  clear(): Promise<void>;
}

/** Mounts a small disk, or returns null where only root may. */
export async function smallDisk(): Promise<SmallDisk | null> {
  if (process.getuid?.() !== 0) return null;
  const path = await temporaryFolder();
  const options = `size=${DISK_BYTES},uid=${NOBODY},gid=${NOBODY},mode=700`;
  const mount = run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
  if ((await mount.catch(() => null)) === null) return null;
  onTestFinished(async () => void (await run("umount", ["--lazy", path])));
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
