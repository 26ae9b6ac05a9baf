import { execFileSync } from "node:child_process";
import { appendFile, open as openFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { smallDisk } from "../testing/small-disk.ts";
import { testRouter } from "../testing/test-router.ts";
import { openDecisionLog, type openLineFile } from "./decision-log.ts";

type Open = NonNullable<Parameters<typeof openLineFile>[1]>;

function recordWith(requestId: string) {
  const instance = "one".padEnd(500, "-"); // as long as the record of a message
  return { time: new Date().toISOString(), instance, requestId, feedback: "nano" as const };
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

test("a full disk loses the records of that time, counts them, and no others", async () => {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  const warnings: string[] = [];
  const length = Buffer.byteLength(JSON.stringify(recordWith("1"))) + 1;
  const { disk, open } = smallDisk(Math.floor(length * 1.5));
  const log = await openDecisionLog(path, (line) => warnings.push(line), open);
  for (const id of ["1", "2"]) log.add(recordWith(id)); // one write, cut short in the second line
  await log.reopen();
  log.add(recordWith("3"));
  await log.reopen();
  expect(log.dropped()).toBe(2);
  disk.free = 100_000;
  for (const id of ["4", "5"]) log.add(recordWith(id));
  await log.close();
  expect(log.dropped()).toBe(2);
  expect(await readLog(path)).toEqual({ ids: ["1", "4", "5"], torn: 1 });
  expect(warnings).toEqual([
    "The decision log cannot be written (ENOSPC); records are dropped until it can.\n",
    "The decision log is written again; records dropped: 2.\n",
  ]);
});

test("each time of a full disk tells its own losses", async () => {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  const warnings: string[] = [];
  const { disk, open } = smallDisk(0);
  const log = await openDecisionLog(path, (line) => warnings.push(line), open);
  for (const lost of [1, 2]) {
    for (let record = 0; record < lost; record += 1) log.add(recordWith("lost"));
    await log.reopen();
    disk.free = 100_000;
    log.add(recordWith("kept"));
    await log.reopen();
    disk.free = 0;
  }
  await log.close();
  expect(log.dropped()).toBe(3);
  expect(warnings.filter((line) => line.includes("again"))).toEqual([
    "The decision log is written again; records dropped: 1.\n",
    "The decision log is written again; records dropped: 2.\n",
  ]);
});

test("a line torn before the start takes no neighbour with it", async () => {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  await appendFile(path, `${JSON.stringify(recordWith("before"))}\n{"time":"2026-`);
  const log = await openDecisionLog(path, (line) => expect.fail(line));
  log.add(recordWith("after"));
  await log.close();
  expect(await readLog(path)).toEqual({ ids: ["before", "after"], torn: 1 });
});

test("a rotation takes no record away: each is in one file or the other, in order", async () => {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  const log = await openDecisionLog(path, (line) => expect.fail(line));
  log.add(recordWith("1"));
  await rename(path, `${path}.1`);
  log.add(recordWith("2"));
  await log.reopen();
  log.add(recordWith("3"));
  await log.close();
  expect(await readLog(`${path}.1`)).toEqual({ ids: ["1", "2"], torn: 0 });
  expect(await readLog(path)).toEqual({ ids: ["3"], torn: 0 });
});

test("a rotation to where nothing can be opened leaves the log in its old file", async () => {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  const warnings: string[] = [];
  let opened = 0;
  const open: Open = async (...file) => {
    if (opened++ > 0) throw Object.assign(new Error("not allowed"), { code: "EACCES" });
    return openFile(...file);
  };
  const log = await openDecisionLog(path, (line) => warnings.push(line), open);
  await log.reopen();
  log.add(recordWith("1"));
  await log.close();
  expect(warnings).toEqual([
    "The decision log stays in its old file: the new one fails (EACCES).\n",
  ]);
  expect(await readLog(path)).toEqual({ ids: ["1"], torn: 0 });
});

test("a disk that hangs fills no memory: beyond 10,000 waiting records they are dropped", async () => {
  const path = join(await temporaryFolder(), "decisions.jsonl");
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
  const warnings: string[] = [];
  const log = await openDecisionLog(path, (line) => warnings.push(line), open);
  for (let id = 0; id < 10_002; id += 1) log.add(recordWith(String(id)));
  expect(log.dropped()).toBe(2);
  expect(warnings).toEqual([expect.stringContaining("(the disk is too slow)")]);
  goesOn.resolve();
  await log.close();
  expect((await readLog(path)).ids).toHaveLength(10_000);
});

test("what the log dropped is in the metrics and in the answer of readyz", async () => {
  const { request } = await testRouter(
    {},
    { log: { path: "", add: () => {}, written: async () => {}, dropped: () => 3 } },
  );
  expect(await (await request("/metrics")).text()).toContain(
    "router_decision_log_dropped_total 3\n",
  );
  expect(await (await request("/metrics")).text()).toContain(
    "router_decision_log_dropped_total 3\n",
  );
  expect(await (await request("/readyz")).json()).toMatchObject({
    status: "ready",
    decisionLog: { dropped: 3 },
  });
  const without = await testRouter();
  expect(await (await without.request("/readyz")).json()).toEqual({
    status: "ready",
    decider: { modelId: null, isEmulated: null },
  });
  expect(await (await without.request("/metrics")).text()).not.toContain("decision_log");
});

/** Mounts a file system of 8 KB for the length of a test; null where that is not allowed. */
async function mountSmallDisk(): Promise<string | null> {
  const folder = await temporaryFolder();
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
  const warnings: string[] = [];
  const log = await openDecisionLog(path, (line) => warnings.push(line));
  const ids = Array.from({ length: 30 }, (_, index) => String(index));
  for (const id of ids) {
    log.add(recordWith(id));
    await log.reopen(); // once this one is written, or dropped
  }
  const dropped = log.dropped();
  await rm(join(folder, "other"));
  log.add(recordWith("after"));
  await log.close();
  const read = await readLog(path);
  expect(read.ids).toEqual([...ids.slice(0, ids.length - dropped), "after"]);
  expect(read.torn).toBeLessThanOrEqual(1);
  expect(dropped).toBeGreaterThan(5);
  expect(warnings[0]).toContain("(ENOSPC)");
});
