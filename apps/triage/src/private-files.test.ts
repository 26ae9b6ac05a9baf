import { chmod, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Journal, LabelFile } from "evaluator-runs/testing";
import { mbox } from "./testing/import-of.ts";
import { sampleSetup } from "./testing/samples.ts";
import { folderWith, startTriage } from "./testing/start-triage.ts";

// Windows has other permissions.
const isWindows = process.platform === "win32";

async function modesIn(cwd: string) {
  const names = (await readdir(cwd)).filter((name) => name !== "a.mbox");
  const modes = names.map(async (name) => (await stat(join(cwd, name))).mode & 0o777);
  return Object.fromEntries(
    await Promise.all(modes.map(async (mode, at) => [names[at], await mode])),
  );
}

async function writeAll(cwd: string) {
  await startTriage(["import", "a.mbox", "inbox.json", "--skipped", "skipped.txt"], { cwd });
  for (const format of ["json", "ndjson", "csv"]) {
    await startTriage(["inbox.json", "--format", format], { cwd });
  }
  await startTriage(["report", "inbox.json"], { cwd });
  using labels = await LabelFile.open(join(cwd, "inbox.labels.ndjson"));
  await labels.save({ id: "m-1", question: "scam", truth: true });
}

test.skipIf(isWindows)(
  "whatever holds mail is for its owner alone, also where others could read the one before",
  async () => {
    const cwd = await folderWith([]);
    await writeFile(join(cwd, "a.mbox"), mbox("Subject: s\n\nHi"));
    await rm(join(cwd, "inbox.json"));
    await writeAll(cwd);
    const written = await modesIn(cwd);
    expect(Object.keys(written)).toHaveLength(8);
    expect(new Set(Object.values(written))).toEqual(new Set([0o600]));
    for (const name of Object.keys(written)) await chmod(join(cwd, name), 0o644);
    await writeAll(cwd);
    expect(await modesIn(cwd)).toEqual(written);
  },
);

test.skipIf(isWindows)(
  "the log of a journal is for its owner alone, also one that a killed run left",
  async () => {
    const cwd = await folderWith([]);
    const path = join(cwd, "inbox.triage.sqlite");
    Journal.open(path, sampleSetup)[Symbol.dispose]();
    await chmod(path, 0o644);
    for (const end of ["-wal", "-shm"]) await writeFile(path + end, "", { mode: 0o644 });
    using journal = Journal.open(path, sampleSetup);
    expect(journal.newRecords()).toBeNull();
    const modes = await modesIn(cwd);
    expect([modes["inbox.triage.sqlite"], modes["inbox.triage.sqlite-wal"]]).toEqual([
      0o600, 0o600,
    ]);
    expect(modes["inbox.triage.sqlite-shm"]).toBe(0o600);
  },
);
