import { tmpdir } from "node:os";
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Transport } from "evaluator-client";
import { Journal, statusError } from "evaluator-runs/testing";
import { expect, test } from "vitest";
import { recordingTransport, sampleMail, sampleResponse, sampleSetup } from "../testing/samples.ts";
import {
  folderWith,
  startTriage,
  startTriageProgram,
  stoppedClock,
} from "../testing/start-triage.ts";

const mails = ["m-1", "m-2"].map((id) => sampleMail({ id, subject: `About ${id}` }));

/** A service that answers about no mail with a long text, and knows none called "lost". */
function refusingTransport(): Transport {
  const recording = recordingTransport();
  return {
    ...recording,
    async send(request, ...rest) {
      const { subject, snippet } = request.state as Record<"subject" | "snippet", string>;
      if (subject === "lost") throw statusError(404, "Gone.");
      if (snippet.length < 200) return await recording.send(request, ...rest);
      const message = 'The gateway answered 400: "Its maximum context length is 8192 tokens."';
      throw statusError(400, message);
    },
  };
}

/** All files of a folder with their bytes, but for the index that readers of a log share. */
async function contentsOf(folder: string) {
  const names = (await readdir(folder)).filter((name) => !name.endsWith("-shm"));
  const contents = names.map(async (name) => await readFile(join(folder, name), "base64"));
  return (await Promise.all(contents)).map((bytes, at) => [names[at], bytes]);
}

test("a report is made beside a run that is under way", async () => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  using journal = Journal.open(join(cwd, "inbox.triage.sqlite"), sampleSetup);
  await journal.begin({ key: "none" });
  expect(await startTriage(["report", "inbox.json"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await readdir(cwd)).toContain("inbox.triage.lock");
});

test("a report changes nothing but its page", async () => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  await startTriage(["report", "inbox.json"], { cwd });
  const before = await contentsOf(cwd);
  expect(await startTriage(["report", "inbox.json"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await contentsOf(cwd)).toEqual(before);
  expect(before.map(([name]) => name)).toEqual([
    "inbox.json",
    "inbox.triage.html",
    "inbox.triage.json",
    "inbox.triage.sqlite",
  ]);
});

test("a report of an earlier run gives its day and the cost until then", async () => {
  const cwd = await folderWith(mails);
  for (const day of ["2026-11-02", "2026-11-09"]) {
    const clock = { ...stoppedClock, epochNow: () => Date.parse(day) };
    const added = sampleMail({ id: day, subject: `Added on ${day}` });
    await writeFile(join(cwd, "inbox.json"), JSON.stringify([...mails, added]));
    await startTriage(["inbox.json"], { cwd, clock });
  }
  const page = async (run: string) => {
    await startTriage(["report", "inbox.json", "--run", run], { cwd });
    return await readFile(join(cwd, "inbox.triage.html"), "utf8");
  };
  expect(await page("1")).toContain("3 of 3 mails, last on 2026-11-02 00:00 UTC, for $0.000038");
  expect(await page("2")).toContain("3 of 3 mails, last on 2026-11-09 00:00 UTC, for $0.00005.");
});

test.each([
  ["", "is empty; start a run about its input first."],
  ["Dear diary, ".repeat(1000), "is not a journal. Move it away to start"],
])(
  "a report about %j in the journal's place is refused, and the file stays as it is",
  async (text, problem) => {
    const cwd = await folderWith(mails);
    await writeFile(join(cwd, "inbox.triage.sqlite"), text);
    const before = await contentsOf(cwd);
    const { exitCode, stderr } = await startTriage(["report", "inbox.json"], { cwd });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)]);
    expect(await contentsOf(cwd)).toEqual(before);
  },
);

test("a report names what a run asks for again, and what it does not", async () => {
  const long = sampleMail({ id: "long", snippet: "word ".repeat(100) });
  const cwd = await folderWith([long, sampleMail({ id: "lost", subject: "lost" })]);
  await startTriage(["inbox.json"], { cwd, transport: refusingTransport() });
  const { stdout } = await startTriage(["report"], { cwd });
  expect(stdout).toContain("asks for missing answers, not for mails refused as too long.");
});

test("a journal from before there were refusals is reported as it is", async () => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  const path = join(cwd, "inbox.triage.sqlite");
  const database = new DatabaseSync(path);
  database.exec("DROP TABLE refusals");
  database.close();
  const before = await readFile(path);
  expect(await startTriage(["report", "inbox.json"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await readFile(path)).toEqual(before);
});

test("a disk that is full when a report is sorted is told, and leaves the report before", async () => {
  const subject = "A subject as long as a book. ".repeat(2000);
  const mails = Array.from({ length: 60 }, (_, index) => sampleMail({ id: `m-${index}`, subject }));
  const folder = await folderWith(mails);
  expect(await startTriage(["inbox.json"], { cwd: folder })).toMatchObject({ exitCode: 0 });
  await writeFile(join(folder, "inbox.triage.html"), "the one before");
  const options = { cwd: folder, env: {}, mostKilobytes: 1000 };
  const { exitCode, stderr } = await startTriageProgram(["report", "inbox.json"], options).ended;
  expect(stderr).toBe(
    `Cannot write into ${tmpdir()}: disk I/O error. Make room there, or set TMPDIR.\n`,
  );
  expect(exitCode).toBe(1);
  expect(await readFile(join(folder, "inbox.triage.html"), "utf8")).toBe("the one before");
});

test("a report reads a journal file that TRIAGE_JOURNAL names, also of an interrupted run", async () => {
  const cwd = await folderWith(mails);
  const interruption = new AbortController();
  const transport = recordingTransport(() => {
    interruption.abort();
    return sampleResponse();
  });
  const { signal } = interruption;
  await startTriage(["inbox.json", "--concurrency", "1"], { cwd, transport, signal });
  const env = { TRIAGE_JOURNAL: "inbox.triage.sqlite" };
  const report = await startTriage(["report"], { cwd, env });
  expect([report.exitCode, report.stdout]).toEqual([0, expect.stringMatching(/^<!doctype html>/)]);
});

test("report says which journal is missing, wrong or not the only one", async () => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  const path = join(cwd, "inbox.triage.sqlite");
  const said = async (...words: string[]) => {
    const { exitCode, stderr } = await startTriage(["report", ...words], { cwd });
    return `${exitCode} ${stderr}`;
  };
  expect(await said("--journal", "other.triage.sqlite")).toMatch(/^1 There is no journal at /);
  expect(await said("--journal", "a.txt")).toMatch(/^1 --journal takes a postgres:\/\/ URL or/);
  await copyFile(path, join(cwd, "two.triage.sqlite"));
  expect(await said()).toMatch(
    /^1 This folder has 2 journals: inbox\.triage\.sqlite, two\.triage\.sqlite\. Name FILE, --journal or /,
  );
  await rm(join(cwd, "two.triage.sqlite"));
  await writeFile(path, "");
  expect(await said()).toMatch(/^1 The journal .* is empty; start a run about its input first\./);
  await rm(path);
  expect(await said()).toMatch(/^1 This folder has no journal\. Name FILE, --journal or /);
});
