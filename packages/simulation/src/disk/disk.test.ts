import { writeWholeFile } from "evaluator-kit";
import { expect, test } from "vitest";
import type { FaultOf } from "../plan/fault.ts";
import { ProcessClock } from "../time/process-clock.ts";
import { Random } from "../time/random.ts";
import { VirtualTime } from "../time/virtual-time.ts";
import { Disk } from "./disk.ts";
import { openOnDisk } from "./disk-database.ts";
import { DiskFaults } from "./disk-faults.ts";
import { diskFiles } from "./disk-files.ts";

function startDisk(...faults: FaultOf<"disk">[]) {
  const time = new VirtualTime();
  const clock = new ProcessClock(time);
  const disk = new Disk(new Random(1, "disk"));
  const met = new DiskFaults(faults, () => {
    clock.kill();
    disk.losePower();
  });
  const files = diskFiles(disk, met, clock);
  const open = openOnDisk({ disk, faults: met, clock });
  /** Writes a whole file; returns its error, or null, or undefined if the process died. */
  const write = async (text: string) => {
    let end: unknown;
    const options = { files, newId: () => "one" };
    void writeWholeFile("/folder/file", text, options).then(
      () => (end = null),
      (error: unknown) => (end = error),
    );
    await time.run(() => false);
    return clock.isDead ? undefined : end;
  };
  return { disk, open, write, textOf: () => disk.names.get("/folder/file")?.bytes.toString() };
}

const once = { kind: "disk", atMs: 0, isOfFiles: true } as const;

test.each([
  ["full", 1, "no space left on device"],
  ["sync", 1, "i/o error"],
  ["short", 4, "The disk took 14 of 16 bytes."],
] as const)("a file stays as it was if the disk is %s", async (what, operations, message) => {
  const { write, textOf } = startDisk({ ...once, what, operations });
  expect(await write("sixteen letters.")).toMatchObject({
    message: expect.stringContaining(message),
  });
  expect(textOf()).toBeUndefined();
  expect(await write("newer")).toBeNull();
  expect(textOf()).toBe("newer");
});

test.each([1, 2, 3, 4, 5])(
  "a power loss at operation %i leaves the older file or the newer one",
  async (operations) => {
    const { disk, write, textOf } = startDisk();
    expect(await write("older")).toBeNull();
    const lost = startDisk({ ...once, what: "power", operations, backAfterMs: 1 });
    for (const [path, file] of disk.names) lost.disk.names.set(path, file);
    lost.disk.syncNames("/folder");
    expect(await lost.write("newer")).toBeUndefined();
    expect(lost.textOf()).toBeOneOf(["older", "newer"]);
    expect(textOf()).toBe("older");
  },
);

test("a power loss keeps the commits that were synced, and no others", () => {
  const { disk, open } = startDisk();
  const count = () => open("/journal.sqlite").prepare("SELECT count(*) AS rows FROM t").get();
  const add = () => {
    const database = open("/journal.sqlite");
    database.prepare("BEGIN").run();
    database.prepare("INSERT INTO t VALUES (1)").run();
    return database;
  };
  open("/journal.sqlite").exec("BEGIN; CREATE TABLE t (a); COMMIT");
  add().prepare("COMMIT").run();
  disk.losePower();
  expect(count()).toEqual({ rows: 1 });
  const database = open("/journal.sqlite");
  database.exec("PRAGMA synchronous = OFF");
  database.prepare("BEGIN").run();
  database.prepare("INSERT INTO t VALUES (2)").run();
  database.prepare("COMMIT").run();
  expect(count()).toEqual({ rows: 2 });
  disk.losePower();
  expect(count()).toEqual({ rows: 1 });
  add();
  disk.release();
  expect(count()).toEqual({ rows: 1 });
});

test("a lock has one holder, and is free when it is closed or its process died", () => {
  const { disk, open } = startDisk();
  const lock = () => {
    const database = open("/journal.lock");
    database.exec("BEGIN EXCLUSIVE");
    return database;
  };
  const first = lock();
  expect(lock).toThrow("locked");
  first.close();
  lock();
  disk.release();
  lock();
});
