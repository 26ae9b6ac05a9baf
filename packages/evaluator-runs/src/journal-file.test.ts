import { getEventListeners } from "node:events";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "evaluator-kit";
import { Journal } from "./testing/index.ts";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse, sampleSetup } from "./testing/samples.ts";
import { sampleTicket } from "./testing/tickets/ticket-source.ts";
import { folderWith, startTickets, stoppedClock } from "./testing/tickets/start-tickets.ts";

const tickets = ["m-1", "m-2", "m-3", "m-4"].map((id) => sampleTicket({ id, subject: `=${id}` }));
const aQuestion = { urgent: { type: "boolean", instructions: "Is it urgent?" } };

/** Answers the tickets of a folder, the second with an error. */
async function runWithFailure(words: readonly string[] = []): Promise<string> {
  const cwd = await folderWith(tickets);
  const transport = recordingTransport((index) => (index === 1 ? {} : sampleResponse()));
  await startTickets(["inbox.json", ...words], { cwd, transport });
  return cwd;
}

/** Answers the first two tickets of a folder, and ends there. */
async function interruptedRun(
  words: readonly string[] = [],
  respond: () => unknown = sampleResponse,
) {
  const cwd = await folderWith(tickets);
  await writeFile(join(cwd, "mine.json"), JSON.stringify(aQuestion));
  const interruption = new AbortController();
  const transport = recordingTransport((index) => {
    if (index === 1) interruption.abort();
    return respond();
  });
  const { signal } = interruption;
  const { exitCode } = await startTickets(["inbox.json", "--concurrency", "1", ...words], {
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
  const written = await readFile(join(cwd, `inbox.tickets.${format}`), "utf8");
  const { exitCode, stdout, stderr } = await startTickets(["export", "--format", format], { cwd });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: written });
  expect(stderr).toMatch(/^1 of 3 records have no answer \(see "error"\); "tickets /);
});

test("exports the newest run's answers after other questions were asked between", async () => {
  const cwd = await folderWith(tickets);
  await writeFile(join(cwd, "mine.json"), JSON.stringify(aQuestion));
  await startTickets(["inbox.json"], { cwd });
  const written = await readFile(join(cwd, "inbox.tickets.json"), "utf8");
  const transport = recordingTransport(urgentResponse);
  const questions = ["--questions", "mine.json"];
  await startTickets(["inbox.json", ...questions], { cwd, transport });
  expect((await startTickets(["export"], { cwd })).stdout).toContain('"urgent": 0.5');
  await startTickets(["inbox.json"], { cwd });
  expect(await startTickets(["export"], { cwd })).toMatchObject({ exitCode: 0, stdout: written });
});

test("an export of an interrupted run says how much is missing", async () => {
  const cwd = await interruptedRun();
  const { exitCode, stdout, stderr } = await startTickets(["export"], { cwd });
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject([
    { id: "m-1", importance: 2 },
    { id: "m-2", importance: 2 },
    { id: "m-3", importance: null, error: "The answer is not in the journal; run again." },
    { id: "m-4", importance: null },
  ]);
  expect(stderr).toContain("2 of 4 records have no answer");
});

test("an answer about what a ticket was before is not exported as one about what it is", async () => {
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json"], { cwd });
  const changed = tickets.map((ticket) =>
    ticket.id === "m-2" ? { ...ticket, subject: "New" } : ticket,
  );
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(changed));
  const { exitCode, stdout } = await startTickets(["export"], { cwd });
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout)[1]).toMatchObject({
    scam: null,
    error: expect.stringContaining("has changed since"),
  });
});

test("an export that a run disturbs ends, and prints nothing twice", async () => {
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json"], { cwd });
  let printed = "";
  const stdout = {
    write(text: string) {
      printed += text;
      using journal = Journal.open(join(cwd, "inbox.tickets.sqlite"), sampleSetup);
      journal.noteRecords([{ id: "m-9", key: "k" }]);
    },
  };
  const { exitCode, stderr } = await startTickets(["export"], { cwd, stdout });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("export again")]);
  expect(JSON.parse(printed)).toHaveLength(4);
});

test("work goes on with a run as it was begun, and asks for what is missing", async () => {
  const words = [
    "--questions",
    "mine.json",
    "--limit",
    "3",
    "--format",
    "ndjson",
    "--desk",
    "billing",
  ];
  const cwd = await interruptedRun(words, urgentResponse);
  const transport = recordingTransport(urgentResponse);
  const elsewhere = { cwd: "/", transport };
  const work = await startTickets(["work", join(cwd, "inbox.json")], elsewhere);
  expect(work.exitCode).toBe(0);
  expect(transport.requests).toMatchObject([{ state: { subject: "=m-3", desk: "billing" } }]);
  const lines = (await readFile(join(cwd, "inbox.tickets.ndjson"), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).urgent)).toEqual([0.5, 0.5, 0.5]);
});

test("work asks nobody else and nothing else than the run did", async () => {
  const cwd = await interruptedRun();
  const another = { ...recordingTransport(), name: "another" };
  const refused = await startTickets(["work"], { cwd, transport: another });
  expect([refused.exitCode, another.requests]).toEqual([1, []]);
  expect(refused.stderr).toContain(
    "The run asks unknown through gateway, not unknown through another",
  );
  const transport = recordingTransport();
  const env = { TICKETS_TEAM: "Ada" };
  const other = await startTickets(["work"], { cwd, transport, env });
  expect([other.exitCode, transport.requests]).toEqual([1, []]);
  expect(other.stderr).toContain("The run has other questions; undo the change to --questions");
});

test.each([[[]], [["inbox.json"]], [["inbox.tickets.sqlite"]], [["--journal", "inbox.json"]]])(
  "status finds the journal by %j",
  async (words) => {
    const cwd = await interruptedRun();
    expect(await startTickets(["status", ...words], { cwd })).toEqual({
      exitCode: 0,
      stderr: "",
      stdout:
        "2 of 4 tickets answered\n$0.000025 · 0 failed\n" +
        'No run is under way; "tickets work" asks for the other 2.\n',
    });
  },
);

test("explain and export read a journal file that --journal or TICKETS_JOURNAL names", async () => {
  const cwd = await interruptedRun();
  const named = ["--journal", "inbox.tickets.sqlite"];
  const explained = await startTickets(["explain", "m-1", ...named], { cwd });
  expect(explained.stdout).toMatch(/^ticket +m-1\n/);
  const env = { TICKETS_JOURNAL: "inbox.tickets.sqlite" };
  const exported = await startTickets(["export"], { cwd, env });
  expect([exported.exitCode, JSON.parse(exported.stdout)]).toEqual([2, expect.any(Array)]);
});

test.each(["status", "export", "work", "explain"])(
  "%s says which journal is missing, wrong or not the only one",
  async (verb) => {
    const cwd = await interruptedRun();
    const given = verb === "explain" ? ["explain", "m-1"] : [verb];
    const path = join(cwd, "inbox.tickets.sqlite");
    const said = async (...words: string[]) => {
      const { exitCode, stderr } = await startTickets([...given, ...words], { cwd });
      return `${exitCode} ${stderr}`;
    };
    expect(await said("--run", "7")).toMatch(/^1 There is no run 7 in .*, which has 1 run\.$/m);
    expect(await said("--journal", "other.tickets.sqlite")).toMatch(/^1 There is no journal at /);
    expect(await said("--journal", "a.txt")).toMatch(/^1 --journal takes a postgres:\/\/ URL or/);
    await copyFile(path, join(cwd, "two.tickets.sqlite"));
    expect(await said()).toMatch(
      /^1 This folder has 2 journals: inbox\.tickets\.sqlite, two\.tickets\.sqlite\. Name FILE, --journal or /,
    );
    await rm(join(cwd, "two.tickets.sqlite"));
    await writeFile(path, "");
    expect(await said()).toMatch(/^1 The journal .* is empty; start a run about its input first\./);
    await writeFile(path, "no journal ".repeat(100));
    expect(await said()).toMatch(/^1 The journal .* is not a journal\. Move it away to start/);
    await rm(path);
    expect(await said()).toMatch(/^1 This folder has no journal\. Name FILE, --journal or /);
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
  const { exitCode, stderr } = await startTickets(["status"], { cwd, clock, stdout, signal });
  return { exitCode, stderr, frames, listeners };
}

test("the live status draws over itself while a run is under way, and ends with it", async () => {
  const cwd = await interruptedRun();
  const journal = Journal.open(join(cwd, "inbox.tickets.sqlite"), sampleSetup);
  await journal.begin({ key: "none" });
  const { exitCode, frames, listeners } = await liveStatus(cwd, (step) => {
    if (step === 12) journal[Symbol.dispose]();
  });
  expect([exitCode, frames.length]).toEqual([0, 13]);
  expect(frames[0]).toBe(
    "2 of 4 tickets answered · a run is und…\n$0.000025 · 0 failed · 0 in flight\n",
  );
  expect(frames[1]).toContain("\u001b[2A\r\u001b[J2 of 4 tickets answered · ");
  expect(frames.at(-1)).toContain("No run is under way; ");
  expect(listeners.at(-1)).toBe(listeners[0]);
});

test("Ctrl-C ends the live status with 130", async () => {
  const cwd = await interruptedRun();
  using journal = Journal.open(join(cwd, "inbox.tickets.sqlite"), sampleSetup);
  journal.noteRecords([]);
  const { exitCode, stderr, frames } = await liveStatus(cwd, (step, abort) => {
    if (step === 2) abort();
  });
  expect([exitCode, stderr, frames.length]).toEqual([130, "", 2]);
});
