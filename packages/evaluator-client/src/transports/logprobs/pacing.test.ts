import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { choice } from "../../questions/kinds.ts";
import { LimitedService, seededRandom, type ServiceLimit } from "../../testing/limited-service.ts";
import { ManualClock } from "../../testing/manual-clock.ts";
import { byNumber, manyOptions, ownServer, playChat } from "../../testing/played-chat.ts";
import { logprobsTransport } from "./logprobs-transport.ts";

// Eight options are asked in eight shifts, so that one evaluation takes eight calls.
const questions = { which: choice("Which?", manyOptions(8)) };
const CALLS = 8;

/** A chat server that limits, in simulated time, and evaluators over it. */
function serve(limit: ServiceLimit) {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const service = new LimitedService(clock, random, limit);
  const sentAtMs: number[] = [];
  const chat = playChat(byNumber);
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    sentAtMs.push(clock.now());
    const answer = await service.answer("{}");
    return answer.ok ? chat.fetch(url, init) : answer;
  };
  const transport = logprobsTransport({ ...ownServer, server: "openai", fetch, concurrency: 16 });
  return { clock, random, service, sentAtMs, transport };
}

const unlimited: ServiceLimit = { limit: 1, windowMs: 1000, kind: "none" };

test("each call of an evaluation takes its own turn under a known limit", async () => {
  const { clock, random, sentAtMs, transport } = serve(unlimited);
  const limits = { requestsPerMinute: 120 };
  const options = { transport, limits, maxRetries: 0, attemptTimeoutMs: 1000 };
  const evaluator = createEvaluator(options, { clock, random });
  const asked = Promise.all(
    ["a", "b", "c"].map((state) => evaluator.evaluate({ state, questions })),
  );
  await clock.advance(60_000);
  // Longer than an attempt's time limit: waiting for turns takes nothing of it.
  expect((await asked).map(({ timing }) => timing.attempts)).toEqual([1, 1, 1]);
  expect(sentAtMs).toHaveLength(3 * CALLS);
  // A second's worth at once, then 95 % of two a second.
  expect(sentAtMs.at(-1)).toBeGreaterThan(((3 * CALLS - 2) / (2 * 0.95)) * 1000 - 1000);
  for (const [index, atMs] of sentAtMs.entries()) {
    expect((sentAtMs[index + 4] ?? Infinity) - atMs).toBeGreaterThan(1000);
  }
  expect(clock.waiting).toBe(0);
});

test("a batch over a server that limits loses nothing", async () => {
  const limit = { limit: 20, windowMs: 1000, kind: "bucket" } as const;
  const { clock, random, service, transport } = serve(limit);
  const evaluator = createEvaluator({ transport }, { clock, random });
  const requests = Array.from({ length: 200 }, (_, index) => ({ state: `${index}`, questions }));
  const batch = evaluator.evaluateMany(requests, { concurrency: 16 });
  // 128 calls begin before the first answer; a rate is found from those that are refused.
  let early = service.counts;
  clock.schedule(30_000, () => (early = service.counts));
  const state = { isOver: false };
  const done = (async () => {
    while (!(await batch.next()).done);
  })().finally(() => (state.isOver = true));
  await clock.runUntil(() => state.isOver);
  await done;
  expect(batch.totals).toMatchObject({ succeeded: 200, failed: 0 });
  const throttled = service.throttled - early.throttled;
  const sent = service.requests - early.requests;
  expect(throttled / sent).toBeLessThan(0.02);
  expect((sent - throttled) / (service.allowed - early.allowed)).toBeGreaterThan(0.9);
});

test("an evaluation that is out of time waits for no further turn", async () => {
  const { clock, random, sentAtMs, transport } = serve(unlimited);
  const options = { transport, limits: { requestsPerMinute: 60 }, deadlineMs: 3000 };
  const evaluator = createEvaluator(options, { clock, random });
  const outcome = evaluator.evaluate({ state: "a", questions }).catch((error: unknown) => error);
  await clock.advance(3000);
  expect(await outcome).toMatchObject({ name: "TimeoutError", limit: "deadline" });
  const sent = sentAtMs.length;
  await clock.advance(60_000);
  expect(sentAtMs).toHaveLength(sent);
  expect(clock.waiting).toBe(0);
});
