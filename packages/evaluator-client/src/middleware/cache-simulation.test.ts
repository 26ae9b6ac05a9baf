import { expect, test } from "vitest";
import { sleep } from "../clock.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { ConnectionError, EvaluatorError, TimeoutError } from "../errors.ts";
import { boolean } from "../questions/kinds.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { seededRandom } from "../testing/limited-service.ts";
import { hashedCache } from "../testing/hashed-cache.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { Transport, TransportReply } from "../transports/transport.ts";

const questions = { spam: boolean("Is it spam?") };
const texts = ["ham", "spam", "eggs"];
const aborted = new Error("enough");

/** A service that answers by the state that it reads, late or not at all. */
function service(clock: ManualClock, random: () => number) {
  const asked: string[] = [];
  const transport: Transport = {
    name: "played",
    async send({ state }: EvaluationRequest): Promise<TransportReply> {
      const { text } = state as { text: string };
      asked.push(text);
      await sleep(random() * 400, { clock });
      if (random() < 0.25)
        throw new ConnectionError("Cut.", { isRetryable: true, maybeBilled: true });
      const response = {
        answers: { spam: { type: "boolean", probability: texts.indexOf(text) / 10 } },
        rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
        usage: { inputTokens: 1, outputTokens: 1 },
        warnings: [],
        providerMetadata: {},
      };
      return { response, modelId: null, requestId: null, raw: response, costUsd: 1 };
    },
  };
  return { asked, transport };
}

/** What a call was asked, and how it ended. */
interface Played {
  readonly text: string;
  readonly limits: { readonly deadlineMs: number; readonly maxRetries: number };
  readonly ms: number;
  readonly outcome: { readonly answer: number } | { readonly error: unknown };
}

/** Asks with few row objects that always change, with random limits and aborts. */
async function play(seed: number) {
  const random = seededRandom(seed);
  const clock = new ManualClock();
  const { asked, transport } = service(clock, random);
  const kept = hashedCache({ maxEntries: 2 });
  const evaluator = createEvaluator({ transport }, { clock, random }).with(kept);
  const rows = [{ text: "" }, { text: "" }];
  const pick = <TItem>(items: readonly TItem[]): TItem =>
    items[Math.floor(random() * items.length)] as TItem;
  const callOne = async (): Promise<Played> => {
    await sleep(random() * 3000, { clock });
    const state = pick(rows);
    const text = pick(texts);
    state.text = text;
    const controller = new AbortController();
    const cancel =
      random() < 0.2 ? clock.schedule(random() * 500, () => controller.abort(aborted)) : () => {};
    const limits = { deadlineMs: pick([50, 300, 5000]), maxRetries: pick([0, 1, 4]) };
    const options = { ...limits, attemptTimeoutMs: pick([100, 1000]), signal: controller.signal };
    const startedAtMs = clock.now();
    const outcome = await evaluator.evaluate({ state, questions }, options).then(
      ({ answers }) => {
        const answer = answers.spam.probability;
        answers.spam.probability = -1;
        return { answer };
      },
      (error: unknown) => ({ error }),
    );
    cancel();
    return { text, limits, ms: clock.now() - startedAtMs, outcome };
  };
  const end = { isReached: false };
  const calls = Promise.all(Array.from({ length: 30 }, callOne)).finally(() => {
    end.isReached = true;
  });
  const churn = async () => {
    while (!end.isReached) {
      await sleep(7, { clock });
      pick(rows).text = pick(texts);
    }
  };
  const churned = churn();
  await clock.runUntil(() => end.isReached);
  await clock.advance(10_000);
  await churned;
  return { played: await calls, asked, savings: kept.savings, timers: clock.waiting };
}

/** Returns what is wrong with how a call ended, or null. */
function flawOf({ text, limits, ms, outcome }: Played): string | null {
  if (ms > limits.deadlineMs + 10) return `took ${ms} ms of ${limits.deadlineMs}`;
  if ("answer" in outcome)
    return outcome.answer === texts.indexOf(text) / 10 ? null : `${text} has ${outcome.answer}`;
  const { error } = outcome;
  if (error === aborted) return null;
  if (!(error instanceof EvaluatorError)) return String(error);
  const isOwnDeadline = error instanceof TimeoutError && error.timeoutMs === limits.deadlineMs;
  const gaveUp = error.attempts > limits.maxRetries || /past the deadline/.test(error.message);
  return isOwnDeadline || gaveUp ? null : `failed by another's limits: ${error.message}`;
}

test.each(Array.from({ length: 40 }, (_, index) => index + 1))(
  "each call of a cache has its own answer in its own time, however rows change (seed %d)",
  async (seed) => {
    const { played, asked, savings, timers } = await play(seed);
    expect(played.map(flawOf).filter((flaw) => flaw !== null)).toEqual([]);
    expect(played.filter(({ outcome }) => "answer" in outcome).length).toBeGreaterThan(5);
    expect(savings.hits + savings.joined).toBeGreaterThan(0);
    expect(asked.length).toBeGreaterThan(0);
    expect(timers).toBe(0);
  },
);
