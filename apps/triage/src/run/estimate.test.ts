import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { checkCost, describeMachines } from "evaluator-runs/testing";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

function dearResponse() {
  const { providerMetadata, ...response } = sampleResponse();
  const gateway = { marketCost: "0.003", routing: {} };
  return { ...response, providerMetadata: { ...providerMetadata, gateway } };
}

const price = { inputUsdPerMillionTokens: 0.042, source: "here" };

function inbox(length: number, snippet = "Short.") {
  return Array.from({ length }, (_, index) => sampleMail({ id: `m-${index}`, snippet }));
}

test("the estimate comes before the first call, the real totals after the last", async () => {
  const cwd = await folderWith(inbox(3));
  const said: string[] = [];
  const transport = recordingTransport();
  const stderr = { write: (text: string) => said.push(`${transport.requests.length}: ${text}`) };
  await startTriage(["inbox.json"], { cwd, transport, stderr });
  expect(said[0]).toBe("0: Engine: unknown through gateway.\n");
  expect(said[1]).toMatch(
    /^0: To ask: 3 mails, about 1,\d\d\d tokens, \$0\.000\d\d\d \(\$0\.042 a million tokens: the documented price\), 1 s\.\n$/,
  );
  expect(said[2]).toBe("3: Answered: 3; 900 tokens, $0.000038, 0 s.\n");
});

test("a dry run prints the estimate, sends nothing and makes nothing", async () => {
  const cwd = await folderWith(inbox(3));
  const transport = recordingTransport();
  const { exitCode, stdout } = await startTriage(["inbox.json", "--dry-run"], { cwd, transport });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^To ask: 3 mails, about /);
  expect(transport.requests).toEqual([]);
  expect(await readdir(cwd)).toEqual(["inbox.json"]);
});

test("a dry run counts what the journal has", async () => {
  const cwd = await folderWith(inbox(3));
  await startTriage(["inbox.json", "--limit", "2"], { cwd });
  const { stdout } = await startTriage(["inbox.json", "--dry-run"], { cwd });
  expect(stdout).toMatch(/^To ask: 1 mail, .*; 2 answered already\.\nNo limit/);
});

test("an estimate above --max-cost keeps everything from being sent", async () => {
  const cwd = await folderWith(inbox(3));
  const transport = recordingTransport();
  const words = ["inbox.json", "--max-cost", "0.00001"];
  const { exitCode, stderr } = await startTriage(words, { cwd, transport });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("The run would cost more than $0.00001 (--max-cost); nothing was sent.");
  expect(transport.requests).toEqual([]);
});

test("a run that turns out dearer than estimated ends before it passes --max-cost", async () => {
  const cwd = await folderWith(inbox(10));
  const transport = recordingTransport(dearResponse);
  const words = ["inbox.json", "--max-cost", "0.01"];
  const { exitCode, stderr } = await startTriage(words, { cwd, transport });
  expect(exitCode).toBe(1);
  expect(transport.requests).toHaveLength(3);
  expect(stderr).toContain("Stopped: The run costs more than --max-cost 0.01");
  expect(stderr).toContain("3 of 10 answers are kept");
});

test.each([
  ["no", 1, { answer: false, yes: false }, false],
  ["yes", 1, { answer: true, yes: false }, true],
  ["nothing, with --yes", 0, { answer: false, yes: true }, true],
])("a run above $1 asks the person, who says %s", async (_, asked, { answer, yes }, goesOn) => {
  const questions: string[] = [];
  const confirm = async (question: string) => {
    questions.push(question);
    return answer;
  };
  const estimate = { records: 1, calls: 1, inputTokens: 1, costUsd: 1.2649, durationMs: 1, price };
  const { signal } = new AbortController();
  const limits = {
    maxCost: Number.POSITIVE_INFINITY,
    yes,
    confirm,
    signal,
    source: { word: "mail" },
  };
  const checked = checkCost(estimate, limits).then(
    () => true,
    (error: unknown) => String(error) !== "CliError: Nothing was sent.",
  );
  expect(await checked).toBe(goesOn);
  expect(questions).toEqual(["Spend about $1.26? [y/N] "].slice(0, asked));
});

test("a cheap run asks nobody", async () => {
  const cwd = await folderWith(inbox(3));
  const confirm = async () => expect.unreachable("nobody asks");
  expect(await startTriage(["inbox.json"], { cwd, confirm })).toMatchObject({ exitCode: 0 });
});

test("an interruption in place of an answer ends with 130", async () => {
  const interruption = new AbortController();
  const confirm = async () => {
    interruption.abort();
    return false;
  };
  const estimate = { records: 1, calls: 1, inputTokens: 1, costUsd: 2, durationMs: 1, price };
  const { signal } = interruption;
  const limits = { maxCost: 3, yes: false, confirm, signal, source: { word: "mail" } };
  await expect(checkCost(estimate, limits)).rejects.toMatchObject({ exitCode: 130 });
});

test.each([
  [0, { requestsPerMinute: 1200 }, 1, ""],
  [
    10_000_000,
    { requestsPerMinute: 1200 },
    1,
    "The key allows 1,200 requests a minute: 5.8 days, on any number of machines. One machine reaches that with --concurrency 6, so more would not help.\n",
  ],
  [
    100,
    { requestsPerMinute: 1200 },
    6,
    "The key allows 1,200 requests a minute: 5 s, on any number of machines. One machine reaches that, so more would not help.\n",
  ],
])("%d calls at %j: whether more machines help", (calls, limits, concurrency, line) => {
  expect(describeMachines(calls, { concurrency, limits })).toBe(line);
});
