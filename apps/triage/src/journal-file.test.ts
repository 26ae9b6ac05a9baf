import { getEventListeners } from "node:events";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "evaluator-kit";
import { Journal } from "evaluator-runs/testing";
import { expect, test } from "vitest";
import { recordingTransport, sampleMail, sampleResponse, sampleSetup } from "./testing/samples.ts";
import { folderWith, startTriage, stoppedClock } from "./testing/start-triage.ts";

const mails = ["m-1", "m-2", "m-3", "m-4"].map((id) => sampleMail({ id, subject: `=${id}` }));
const aQuestion = { urgent: { type: "boolean", instructions: "Is it urgent?" } };

/** Answers the mails of a folder, the second with an error. */
async function runWithFailure(words: readonly string[] = []): Promise<string> {
  const cwd = await folderWith(mails);
  const transport = recordingTransport((index) => (index === 1 ? {} : sampleResponse()));
  await startTriage(["inbox.json", ...words], { cwd, transport });
  return cwd;
}

/** Answers the first two mails of a folder, and ends there. */
async function interruptedRun(
  words: readonly string[] = [],
  respond: () => unknown = sampleResponse,
) {
  const cwd = await folderWith(mails);
  await writeFile(join(cwd, "mine.json"), JSON.stringify(aQuestion));
  const interruption = new AbortController();
  const transport = recordingTransport((index) => {
    if (index === 1) interruption.abort();
    return respond();
  });
  const { signal } = interruption;
  const { exitCode } = await startTriage(["inbox.json", "--concurrency", "1", ...words], {
    cwd,
    transport,
    signal,
  });
  expect(exitCode).toBe(130);
  return cwd;
}

const urgentResponse = () => ({
  ...sampleResponse(),
  answers: { urgent: { type: "boolean", probability: 0.5 } },
});

test.each(["json", "ndjson", "csv"])("exports as %s what the run wrote", async (format) => {
  const cwd = await runWithFailure(["--format", format, "--limit", "3"]);
  const written = await readFile(join(cwd, `inbox.triage.${format}`), "utf8");
  const { exitCode, stdout, stderr } = await startTriage(["export", "--format", format], { cwd });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: written });
  expect(stderr).toMatch(
    /^1 of 3 records have no answer, and say why in "error"; "evaluator-triage /,
  );
});

test("exports the newest run's answers after other questions were asked between", async () => {
  const cwd = await folderWith(mails);
  await writeFile(join(cwd, "mine.json"), JSON.stringify(aQuestion));
  await startTriage(["inbox.json"], { cwd });
  const written = await readFile(join(cwd, "inbox.triage.json"), "utf8");
  const transport = recordingTransport(urgentResponse);
  const questions = ["--questions", "mine.json"];
  await startTriage(["inbox.json", ...questions], { cwd, transport });
  expect((await startTriage(["export"], { cwd })).stdout).toContain('"urgent": 0.5');
  await startTriage(["inbox.json"], { cwd });
  expect(await startTriage(["export"], { cwd })).toMatchObject({ exitCode: 0, stdout: written });
});

test("an export of an interrupted run says how much is missing", async () => {
  const cwd = await interruptedRun();
  const { exitCode, stdout, stderr } = await startTriage(["export"], { cwd });
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject([
    { id: "m-1", importance: 2 },
    { id: "m-2", importance: 2 },
    { id: "m-3", importance: null, error: "The answer is not in the journal; run again." },
    { id: "m-4", importance: null },
  ]);
  expect(stderr).toContain("2 of 4 records have no answer");
});

test("an answer about what a mail was before is not exported as one about what it is", async () => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  const changed = mails.map((mail) => (mail.id === "m-2" ? { ...mail, subject: "New" } : mail));
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(changed));
  const { exitCode, stdout } = await startTriage(["export"], { cwd });
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout)[1]).toMatchObject({
    scam: null,
    error: expect.stringContaining("has changed since"),
  });
});

test("an export that a run disturbs ends, and prints nothing twice", async () => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  let printed = "";
  const stdout = {
    write(text: string) {
      printed += text;
      using journal = Journal.open(join(cwd, "inbox.triage.sqlite"), sampleSetup);
      journal.noteRecords([{ id: "m-9", key: "k" }]);
    },
  };
  const { exitCode, stderr } = await startTriage(["export"], { cwd, stdout });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("export again")]);
  expect(JSON.parse(printed)).toHaveLength(4);
});

test("work goes on with a run as it was begun, and asks for what is missing", async () => {
  const words = ["--questions", "mine.json", "--limit", "3", "--format", "ndjson", "--context"];
  const cwd = await interruptedRun(words, urgentResponse);
  const transport = recordingTransport(urgentResponse);
  const elsewhere = { cwd: "/", transport };
  const work = await startTriage(["work", join(cwd, "inbox.json")], elsewhere);
  expect(work.exitCode).toBe(0);
  expect(transport.requests).toMatchObject([{ state: { subject: "=m-3", age_days: 19 } }]);
  const lines = (await readFile(join(cwd, "inbox.triage.ndjson"), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).urgent)).toEqual([0.5, 0.5, 0.5]);
});

test("work asks nobody else and nothing else than the run did", async () => {
  const cwd = await interruptedRun();
  const another = { ...recordingTransport(), name: "another" };
  const refused = await startTriage(["work"], { cwd, transport: another });
  expect([refused.exitCode, another.requests]).toEqual([1, []]);
  expect(refused.stderr).toContain("The run asks unknown through gateway, and here the engine");
  const transport = recordingTransport();
  const env = { TRIAGE_USER_NAME: "Ada" };
  const other = await startTriage(["work"], { cwd, transport, env });
  expect([other.exitCode, transport.requests]).toEqual([1, []]);
  expect(other.stderr).toContain("asks other questions than this program would now");
});

test.each([[[]], [["inbox.json"]], [["inbox.triage.sqlite"]], [["--journal", "inbox.json"]]])(
  "status finds the journal by %j",
  async (words) => {
    const cwd = await interruptedRun();
    expect(await startTriage(["status", ...words], { cwd })).toEqual({
      exitCode: 0,
      stderr: "",
      stdout:
        "2 of 4 mails answered\n$0.000025 · 0 failed\n" +
        'No run is under way; "evaluator-triage work" asks for the other 2.\n',
    });
  },
);

test("explain and report read a journal file that --journal or TRIAGE_JOURNAL names", async () => {
  const cwd = await interruptedRun();
  const named = ["--journal", "inbox.triage.sqlite"];
  const explained = await startTriage(["explain", "m-1", ...named], { cwd });
  expect(explained.stdout).toMatch(/^mail +m-1\n/);
  const env = { TRIAGE_JOURNAL: "inbox.triage.sqlite" };
  const report = await startTriage(["report"], { cwd, env });
  expect([report.exitCode, report.stdout]).toEqual([0, expect.stringMatching(/^<!doctype html>/)]);
});

test.each(["status", "export", "work", "report", "explain"])(
  "%s says which journal is missing, wrong or not the only one",
  async (verb) => {
    const cwd = await interruptedRun();
    const given = verb === "explain" ? ["explain", "m-1"] : [verb];
    const path = join(cwd, "inbox.triage.sqlite");
    const said = async (...words: string[]) => {
      const { exitCode, stderr } = await startTriage([...given, ...words], { cwd });
      return `${exitCode} ${stderr}`;
    };
    expect(await said("--run", "1")).toMatch(/^1 --run belongs to a journal in PostgreSQL/);
    expect(await said("--journal", "other.triage.sqlite")).toMatch(/^1 There is no journal at /);
    expect(await said("--journal", "a.txt")).toMatch(/^1 --journal takes a postgres:\/\/ URL or/);
    await copyFile(path, join(cwd, "two.triage.sqlite"));
    expect(await said()).toMatch(/^1 2 journals are in this folder\. Name the FILE, or /);
    await rm(join(cwd, "two.triage.sqlite"));
    await writeFile(path, "");
    expect(await said()).toMatch(/^1 .* is not a journal yet: there is nothing in it; start a run/);
    await writeFile(path, "no journal ".repeat(100));
    expect(await said()).toMatch(/^1 The journal .* is not a journal\. Move it away/);
    await rm(path);
    expect(await said()).toMatch(/^1 No journal is in this folder\. Name the FILE, or /);
  },
);

/** Shows the status in a terminal of 40 columns; each step of the clock runs `onStep` first. */
async function liveStatus(cwd: string, onStep: (step: number, abort: () => void) => void) {
  const interruption = new AbortController();
  const [frames, listeners] = [[] as string[], [] as number[]];
  const { signal } = interruption;
  let now = 0;
  const schedule: Clock["schedule"] = (delayMs, callback) => {
    listeners.push(getEventListeners(signal, "abort").length);
    now += delayMs;
    onStep(listeners.length, () => interruption.abort());
    queueMicrotask(callback);
    return () => {};
  };
  const clock = { ...stoppedClock, now: () => now, schedule };
  const stdout = { isTTY: true, columns: 40, write: (text: string) => frames.push(text) };
  const { exitCode, stderr } = await startTriage(["status"], { cwd, clock, stdout, signal });
  return { exitCode, stderr, frames, listeners };
}

test("the live status draws over itself while a run is under way, and ends with it", async () => {
  const cwd = await interruptedRun();
  const journal = Journal.open(join(cwd, "inbox.triage.sqlite"), sampleSetup);
  journal.begin([{ key: "none" }]);
  const { exitCode, frames, listeners } = await liveStatus(cwd, (step) => {
    if (step === 12) journal[Symbol.dispose]();
  });
  expect([exitCode, frames.length]).toEqual([0, 13]);
  expect(frames[0]).toBe(
    "2 of 4 mails answered · a run is under…\n$0.000025 · 0 failed · 0 in flight\n",
  );
  expect(frames[1]).toContain("\u001b[2A\r\u001b[J2 of 4 mails answered · ");
  expect(frames.at(-1)).toContain("No run is under way; ");
  expect(listeners.at(-1)).toBe(listeners[0]);
});

test("Ctrl-C ends the live status with 130", async () => {
  const cwd = await interruptedRun();
  using journal = Journal.open(join(cwd, "inbox.triage.sqlite"), sampleSetup);
  journal.begin([]);
  const { exitCode, stderr, frames } = await liveStatus(cwd, (step, abort) => {
    if (step === 2) abort();
  });
  expect([exitCode, stderr, frames.length]).toEqual([130, "", 2]);
});
