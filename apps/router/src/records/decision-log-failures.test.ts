import { execFileSync } from "node:child_process";
import {
  appendFile,
  mkdtemp,
  open as openFile,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { testRouter } from "../testing/test-router.ts";
import { openDecisionLog } from "./decision-log.ts";
import { type Open, openLineFile } from "./line-file.ts";
import { recordOfFailure } from "./message-record.ts";

async function temporaryLog(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "router-log-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "decisions.jsonl");
}

function recordWith(requestId: string) {
  return recordOfFailure(
    { instance: "one", requestId, endpoint: "chat" },
    "no-decision",
    new Error("no"),
  );
}

/** The ids of the whole records in a log, and how many lines are no records. */
async function readLog(path: string) {
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  const ids: string[] = [];
  let torn = 0;
  for (const line of lines) {
    try {
      ids.push((JSON.parse(line) as { requestId: string }).requestId);
    } catch {
      torn += 1;
    }
  }
  return { ids, torn };
}

/** A disk of so many bytes in all; a write beyond takes what fits, the next one fails. */
function smallDisk(bytes: number) {
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

test("a full disk loses the records of that time, counts them, and no others", async () => {
  const path = await temporaryLog();
  const told: string[] = [];
  const length = Buffer.byteLength(JSON.stringify(recordWith("1"))) + 1;
  const { disk, open } = smallDisk(Math.floor(length * 1.5));
  const log = await openDecisionLog(path, { warn: (line) => told.push(line), open });
  for (const id of ["1", "2"]) log.observe(recordWith(id)); // one write, cut short in the second line
  await log.reopen();
  log.observe(recordWith("3"));
  await log.reopen();
  expect(log.dropped()).toBe(2);
  disk.free = 100_000;
  for (const id of ["4", "5"]) log.observe(recordWith(id));
  await log.close();
  expect(log.dropped()).toBe(2);
  expect(await readLog(path)).toEqual({ ids: ["1", "4", "5"], torn: 1 });
  expect(told).toEqual([
    "The decision log cannot be written (ENOSPC); records are dropped until it can.\n",
    "The decision log is written again; 2 records were dropped.\n",
  ]);
});

test("a write cut short at the end of a line leaves no blank one", async () => {
  const path = await temporaryLog();
  const { disk, open } = smallDisk(4);
  const file = await openLineFile(path, open);
  await expect(file.add(["one\n", "two\n"])).rejects.toMatchObject({ linesWritten: 1 });
  disk.free = 100;
  await file.add(["three\n"]);
  await file.close();
  expect(await readFile(path, "utf8")).toBe("one\nthree\n");
});

test("a line cut short by a write is ended before the next one", async () => {
  const path = await temporaryLog();
  const { disk, open } = smallDisk(6);
  const file = await openLineFile(path, open);
  await expect(file.add(["one\n", "two\n"])).rejects.toMatchObject({ linesWritten: 1 });
  disk.free = 100;
  for (const line of ["three\n", "four\n"]) await file.add([line]);
  await file.close();
  expect(await readFile(path, "utf8")).toBe("one\ntw\nthree\nfour\n");
});

test("a line break that does not fit either is written with the next line", async () => {
  const path = await temporaryLog();
  await writeFile(path, "torn");
  const { disk, open } = smallDisk(0);
  const file = await openLineFile(path, open);
  await expect(file.add(["one\n"])).rejects.toMatchObject({ linesWritten: 0 });
  disk.free = 1;
  await expect(file.add(["two\n"])).rejects.toMatchObject({ linesWritten: 0 });
  disk.free = 100;
  await file.add(["three\n"]);
  await file.close();
  expect(await readFile(path, "utf8")).toBe("torn\nthree\n");
});

test("a log that ends well is gone on with at once, without a blank line", async () => {
  const path = await temporaryLog();
  await writeFile(path, "one\n");
  const file = await openLineFile(path);
  await file.add(["two\n"]);
  await file.close();
  expect(await readFile(path, "utf8")).toBe("one\ntwo\n");
});

test("each time of a full disk tells its own losses", async () => {
  const path = await temporaryLog();
  const told: string[] = [];
  const { disk, open } = smallDisk(0);
  const log = await openDecisionLog(path, { warn: (line) => told.push(line), open });
  for (const lost of [1, 2]) {
    for (let record = 0; record < lost; record += 1) log.observe(recordWith("lost"));
    await log.reopen();
    disk.free = 100_000;
    log.observe(recordWith("kept"));
    await log.reopen();
    disk.free = 0;
  }
  await log.close();
  expect(log.dropped()).toBe(3);
  expect(told.filter((line) => line.includes("again"))).toEqual([
    "The decision log is written again; 1 records were dropped.\n",
    "The decision log is written again; 2 records were dropped.\n",
  ]);
});

test("a line torn before the start takes no neighbour with it", async () => {
  const path = await temporaryLog();
  await appendFile(path, `${JSON.stringify(recordWith("before"))}\n{"time":"2026-`);
  const log = await openDecisionLog(path, { warn: (line) => expect.fail(line) });
  log.observe(recordWith("after"));
  await log.close();
  expect(await readLog(path)).toEqual({ ids: ["before", "after"], torn: 1 });
});

test("a rotation takes no record away: each is in one file or the other, in order", async () => {
  const path = await temporaryLog();
  const log = await openDecisionLog(path, { warn: (line) => expect.fail(line) });
  log.observe(recordWith("1"));
  await rename(path, `${path}.1`);
  log.observe(recordWith("2"));
  await log.reopen();
  log.observe(recordWith("3"));
  await log.close();
  expect(await readLog(`${path}.1`)).toEqual({ ids: ["1", "2"], torn: 0 });
  expect(await readLog(path)).toEqual({ ids: ["3"], torn: 0 });
});

test("a rotation to where nothing can be opened leaves the log in its old file", async () => {
  const path = await temporaryLog();
  const told: string[] = [];
  let opened = 0;
  const open: Open = async (...file) => {
    if (opened++ > 0) throw Object.assign(new Error("not allowed"), { code: "EACCES" });
    return openFile(...file);
  };
  const log = await openDecisionLog(path, { warn: (line) => told.push(line), open });
  await log.reopen();
  log.observe(recordWith("1"));
  await log.close();
  expect(told).toEqual(["The decision log stays in its old file: the new one fails (EACCES).\n"]);
  expect(await readLog(path)).toEqual({ ids: ["1"], torn: 0 });
});

test("a disk that hangs fills no memory: beyond 10,000 waiting records they are dropped", async () => {
  const path = await temporaryLog();
  const goesOn = Promise.withResolvers<void>();
  const { open: openHanging } = smallDisk(Number.POSITIVE_INFINITY);
  const open: Open = async (...file) => {
    const handle = await openHanging(...file);
    const write = async (...parts: Parameters<typeof handle.write>) => {
      await goesOn.promise;
      return handle.write(...parts);
    };
    return { ...handle, write: write as typeof handle.write };
  };
  const told: string[] = [];
  const log = await openDecisionLog(path, { warn: (line) => told.push(line), open });
  for (let id = 0; id < 10_002; id += 1) log.observe(recordWith(String(id)));
  expect(log.dropped()).toBe(2);
  expect(told).toEqual([expect.stringContaining("(the disk is too slow)")]);
  goesOn.resolve();
  await log.close();
  expect((await readLog(path)).ids).toHaveLength(10_000);
});

test("what the log dropped is in the metrics and in the answer of readyz", async () => {
  const { request } = await testRouter({}, { logDropped: () => 3 });
  expect(await (await request("/metrics")).text()).toContain(
    "router_decision_log_dropped_total 3\n",
  );
  expect(await (await request("/metrics")).text()).toContain(
    "router_decision_log_dropped_total 3\n",
  );
  expect(await (await request("/readyz")).json()).toEqual({
    status: "ready",
    decisionLog: { dropped: 3 },
  });
  const without = await testRouter();
  expect(await (await without.request("/readyz")).json()).toEqual({ status: "ready" });
  expect(await (await without.request("/metrics")).text()).not.toContain("decision_log");
});

/** Mounts a file system of 8 KB for the length of a test; null where that is not allowed. */
async function mountSmallDisk(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), "router-disk-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8k", "none", folder], { stdio: "ignore" });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", folder]));
  return folder;
}

test("on a real disk that is full, and then is not, the log goes on", async () => {
  const folder = await mountSmallDisk();
  if (folder === null) return; // only root may; the tests above play the same
  const path = join(folder, "decisions.jsonl");
  await writeFile(join(folder, "other"), "a".repeat(4096));
  const told: string[] = [];
  const log = await openDecisionLog(path, { warn: (line) => told.push(line) });
  const ids = Array.from({ length: 30 }, (_, index) => String(index));
  for (const id of ids) {
    log.observe(recordWith(id));
    await log.reopen(); // once this one is written, or dropped
  }
  const dropped = log.dropped();
  await rm(join(folder, "other"));
  log.observe(recordWith("after"));
  await log.close();
  const read = await readLog(path);
  expect(read.ids).toEqual([...ids.slice(0, ids.length - dropped), "after"]);
  expect(read.torn).toBeLessThanOrEqual(1);
  expect(dropped).toBeGreaterThan(5);
  expect(told[0]).toContain("(ENOSPC)");
});
