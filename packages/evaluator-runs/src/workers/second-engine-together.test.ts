import {
  AuthenticationError,
  ConnectionError,
  mostCostUsd,
  type Transport,
} from "evaluator-client";
import { expect, test } from "vitest";
import { sampleResponse } from "../testing/samples.ts";
import { startTickets, ticketMachines } from "../testing/tickets/start-tickets.ts";
import { manyTickets } from "../testing/tickets/ticket-source.ts";
import { folderWith, readResults } from "../testing/tickets/start-tickets.ts";
import { twoEngines } from "../testing/two-engines.ts";

const { start } = ticketMachines();
const typed = ["inbox.json", "--concurrency", "1", "--price", "1"];

type Send = Transport["send"];
type Engines = ReturnType<typeof twoEngines>;

/** Opens the two engines, one of them with its own way to answer. */
function opening({ first, openTransport }: Engines, own: { first?: Send; again?: Send }) {
  return async (wanted: { engine?: string | undefined }) => {
    const engine = await openTransport(wanted);
    const send = engine === first ? own.first : own.again;
    return { ...engine, ...(send && { send }) };
  };
}

/** Begins a run whose first machine is interrupted while it asks about a ticket, counted from 1. */
async function beginRun(cwd: string, engines: Engines, { at = 1, words = engines.words } = {}) {
  const stopped = new AbortController();
  const first: Send = async (...call) => {
    if (engines.first.requests.length === at - 1) stopped.abort();
    return await engines.first.send(...call);
  };
  const { signal } = stopped;
  const openTransport = opening(engines, { first });
  return await start([...typed, ...words], { cwd, openTransport, signal });
}

test("workers ask the second engine about the unsure answers alone", async () => {
  const cwd = await folderWith(manyTickets(4));
  const engines = twoEngines();
  const { first, again, openTransport } = engines;
  const words = [...engines.words, "--then-unsure", "scam=0.99"];
  const begun = await beginRun(cwd, engines, { at: 2, words });
  expect(begun.stderr).toMatch(
    /^Engine: .*, then openai \S+ b if scam below 0\.8; its own .* 0\.99/,
  );
  expect([begun.exitCode, first.requests.length, again.requests.length]).toEqual([130, 2, 1]);
  const worked = await start(["work", "--price", "1", ...words], { cwd, openTransport });
  expect(worked).toMatchObject({ exitCode: 0 });
  expect(worked.stderr).toContain("Here: Step 2, openai b: asked about 1 record, gave 1 answer");
  const asked = [first.requests.length, again.requests.length];
  const joined = await start([...typed, ...words], { cwd, openTransport });
  expect([joined.exitCode, first.requests.length, again.requests.length]).toEqual([0, ...asked]);
  expect(again.requests.map(({ questions }) => Object.keys(questions))).toEqual([
    ["scam"],
    ["scam"],
  ]);
  expect((await readResults(cwd)).map(({ scam }) => scam)).toEqual([0.02, 0.97, 0.02, 0.97]);
  const explained = await start(["explain", "m-1"], { cwd });
  expect(explained.stdout).toContain(", then openai https://b.example/ b if scam below 0.8");
});

test("a worker with other bounds, or without the second engine, is refused before it asks", async () => {
  const cwd = await folderWith(manyTickets(2));
  const engines = twoEngines();
  const { first, again, openTransport } = engines;
  await beginRun(cwd, engines);
  for (const other of [[], ["--then", "openai", "--unsure", "scam=0.7"]]) {
    for (const run of [[], ["--run", "1"]]) {
      const refused = await start(["work", ...run, ...other], { cwd, openTransport });
      expect(refused).toMatchObject({ exitCode: 1 });
      expect(refused.stderr).toContain("then openai https://b.example/ b if scam below 0.8");
      expect(refused.stderr).toContain("set its engine here");
    }
  }
  const words = ["--then", "openai", "--unsure", "none=0.7"];
  const unknown = await start(["work", ...words], { cwd, openTransport });
  expect(unknown.stderr).toContain('There is no question "none"; there');
  expect([first.requests.length, again.requests.length]).toEqual([1, 0]);
});

test("a worker takes the run of its own engines before an older one of others", async () => {
  const cwd = await folderWith(manyTickets(2));
  const alone = twoEngines();
  await beginRun(cwd, alone, { words: [] });
  const engines = twoEngines();
  const { openTransport, again } = engines;
  await beginRun(cwd, engines);
  const ended = await start(["work", ...engines.words], { cwd, openTransport });
  // Then only that of others is left.
  expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Run 1 asks") });
  const { stdout } = await start(["status"], { cwd });
  expect(stdout).toMatch(/^1 +open +1 +2 .*\n2 +done +2 +2 /m);
  expect([alone.first.requests.length, again.requests.length]).toEqual([1, 1]);
});

/** Returns two engines of which each call is billed in full, and that of the second is lost. */
function losingEngines() {
  const engines = twoEngines();
  const billed = { usd: 0, lost: 0 };
  const bill = (request: Parameters<Send>[0], inputUsdPerMillionTokens: number) => {
    const costUsd = mostCostUsd(request, { inputUsdPerMillionTokens });
    billed.usd += costUsd;
    return costUsd;
  };
  const first: Send = async (request, ...more) => {
    const costUsd = bill(request, 1);
    return { ...(await engines.first.send(request, ...more)), costUsd };
  };
  const again: Send = async (request) => {
    bill(request, 20);
    billed.lost += 1;
    throw new ConnectionError("Lost.", { maybeBilled: true, isRetryable: false });
  };
  return { ...engines, openTransport: opening(engines, { first, again }), billed };
}

test("a record reserves what both engines may cost, and lost calls of the second count", async () => {
  const cwd = await folderWith(manyTickets(8));
  const { openTransport, billed, first } = losingEngines();
  const second = ["--then", "openai", "--unsure", "scam=0.8"];
  const all = ["inbox.json", "--concurrency", "4", "--price", "1", ...second];
  // The same command again has the same cap.
  for (let time = 0; time < 2; time += 1) {
    const capped = [...all, "--then-price", "20", "--max-cost", "0.064"];
    const ended = await start(capped, { cwd, openTransport });
    expect([ended.exitCode, first.requests.length, billed.lost]).toEqual([1, 4, 2]);
    expect(ended.stderr).toContain("costs more than --max-cost 0.064");
  }
  expect(billed.usd).toBeLessThanOrEqual(0.064);
  const { stdout } = await start(["status"], { cwd });
  expect(stdout).toMatch(/Run 1 cost \$0\.004\d+ and at most \$0\.042\d+ for calls without a kept/);
});

test("a worker that knows no price of the second engine is refused, if the run has a maximum cost", async () => {
  const cwd = await folderWith(manyTickets(20));
  const engines = twoEngines();
  const { openTransport, words, first } = engines;
  await beginRun(cwd, engines, { words: [...words, "--max-cost", "1"] });
  const work = ["work", "--price", "1", "--then", "openai", "--unsure", "scam=0.8"];
  const unpriced = await start(work, { cwd, openTransport });
  expect([unpriced.exitCode, first.requests.length]).toEqual([1, 1]);
  expect(unpriced.stderr).toContain("no list has the price of b through openai; nothing was sent");
  expect(unpriced.stderr).toContain("--then-price USD");
  const priced = await start([...work, "--then-price", "1"], { cwd, openTransport });
  expect([priced.exitCode, first.requests.length]).toEqual([0, 20]);
});

test("a second engine that can answer nothing stops the run, and who joins later asks it again", async () => {
  const cwd = await folderWith(manyTickets(4));
  const engines = twoEngines();
  const { again: second, openTransport, words } = engines;
  const ids = { requestId: null, generationId: null };
  const advice = { retryAfterMs: null, needsPaidCredits: false };
  const details = { status: 401, type: null, ...ids, ...advice };
  const again: Send = async () => {
    throw new AuthenticationError("No such key.", details);
  };
  const failing = opening(engines, { again });
  const ended = await start([...typed, ...words], { cwd, openTransport: failing });
  expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("No such key.") });
  // The answer that it should have seen is not kept.
  expect(ended.stderr).toContain("1 of 4 answers are kept");
  const later = await start([...typed, ...words], { cwd, openTransport });
  expect([later.exitCode, second.requests.length]).toEqual([0, 1]);
  expect((await readResults(cwd)).map(({ scam }) => scam)).toEqual([0.02, 0.02, 0.97, 0.02]);
});

test.each<[string, typeof start]>([
  ["a file", startTickets],
  ["PostgreSQL", start],
])(
  "a wrong key of the second engine costs one call at each repetition, not the concurrency, in %s",
  async (_, startIn) => {
    const cwd = await folderWith(manyTickets(60));
    const engines = twoEngines();
    const { first, words } = engines;
    const ids = { requestId: null, generationId: null };
    const details = {
      status: 401,
      type: null,
      ...ids,
      retryAfterMs: null,
      needsPaidCredits: false,
    };
    const again: Send = async () => {
      throw new AuthenticationError("No such key.", details);
    };
    const unsure: Send = async (...call) => {
      const sent = await engines.first.send(...call);
      return { ...sent, response: { ...(sent.response as object), answers: unsureAnswers } };
    };
    const openTransport = opening(engines, { first: unsure, again });
    const typedHere = ["inbox.json", "--concurrency", "8", "--price", "1", ...words];
    const paid: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      const { exitCode } = await startIn(typedHere, { cwd, openTransport });
      expect(exitCode).toBe(1);
      paid.push(first.requests.length);
    }
    expect(paid).toEqual([1, 2, 3]);
    const mended = await startIn(typedHere, { cwd, openTransport: engines.openTransport });
    expect([mended.exitCode, first.requests.length]).toEqual([0, 63]);
  },
);

const unsureAnswers = {
  ...sampleResponse({ importance: 0 }).answers,
  scam: { type: "boolean", probability: 0.6 },
};
