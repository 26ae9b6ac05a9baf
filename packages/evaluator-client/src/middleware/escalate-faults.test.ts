import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConnectionError, InvalidResponseError, StatusError, TimeoutError } from "../errors.ts";
import type { AnswerRoute } from "../answer-route.ts";
import type { Evaluation } from "../evaluation.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { questions } from "../testing/escalating.ts";
import { seededRandom } from "../testing/limited-service.ts";
import { mostTokens } from "../transports/call-estimate.ts";
import type { Transport } from "../transports/transport.ts";
import { budget } from "./budget.ts";
import { escalate } from "./escalate.ts";
import { fallback } from "./fallback.ts";

const failures = {
  lost: () => new ConnectionError("Cut.", { isRetryable: true, maybeBilled: true }),
  cut: () => new ConnectionError("Cut.", { isRetryable: false, maybeBilled: true }),
  unsent: () => new ConnectionError("Refused.", { isRetryable: true, maybeBilled: false }),
  late: () => new TimeoutError("Late.", { timeoutMs: 1, limit: "attempt", maybeBilled: true }),
  rejected: () =>
    new StatusError("No.", {
      status: 400,
      type: null,
      requestId: null,
      isRetryable: false,
    } as never),
  broken: () => new InvalidResponseError("No.", { rule: "any", questionId: null }),
} as const;
const isFree: Readonly<Record<string, boolean>> = { unsent: true, rejected: true };
const ends = ["answered", "answered", "answered", "refused", "abort", ...Object.keys(failures)];

interface Service {
  readonly name: string;
  readonly usdPerMillionTokens: number;
  /** Calls of one attempt, as an engine makes that is read from log-probabilities. */
  readonly calls: number;
  readonly random: () => number;
  readonly isFailing: boolean;
  readonly onSend: (ids: readonly string[]) => void;
  readonly onBilled: (tokens: number) => void;
}

/** A service that bills up to the most that an attempt may take, also for answers that are lost. */
function serviceOf({ name, usdPerMillionTokens, calls, random, ...service }: Service): Transport {
  const mostOf = (request: EvaluationRequest) => calls * mostTokens(request);
  return {
    name,
    usdPerMillionTokens,
    target: { url: `https://${name}.example/v1`, modelId: name },
    estimate: (request) => ({ calls, inputTokens: 100, mostInputTokens: mostOf(request) }),
    async send(request) {
      const ids = Object.keys(request.questions);
      service.onSend(ids);
      await Promise.resolve();
      const end = service.isFailing ? ends[Math.floor(random() * ends.length)] : "answered";
      const share = end === "answered" ? 0.2 + 0.8 * random() : 1;
      const inputTokens = isFree[end ?? ""] === true ? 0 : Math.floor(share * mostOf(request));
      service.onBilled(inputTokens);
      if (end === "abort") (request.state as { stop?: () => void }).stop?.();
      const fail = failures[end as keyof typeof failures] as (() => Error) | undefined;
      if (fail !== undefined) throw fail();
      const answers = ids.map((id) => {
        if (end === "refused" && id === "scam") return [id, { type: "refusal" }];
        return [id, { type: "boolean", probability: Number(random().toFixed(2)) }];
      });
      const response = {
        answers: Object.fromEntries(answers),
        rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
        usage: { inputTokens, outputTokens: 0 },
      };
      const costUsd = (inputTokens * usdPerMillionTokens) / 1e6;
      return { response, modelId: name, requestId: null, raw: response, costUsd };
    },
  };
}

const bounds = { scam: { below: 0.8 }, deal: { between: [0.3, 0.7] } } as const;

/** Checks that nothing that was sure was asked twice, and that all other answers are better ones or have their mark. */
function checkAnswers(evaluation: Evaluation<typeof questions>): void {
  const { answers, steps = [evaluation], costUsd } = evaluation;
  const sum = steps.reduce((total, step) => total + (step.costUsd ?? Number.NaN), 0);
  expect(costUsd).toBeCloseTo(sum, 12);
  expect(Object.keys(answers)).toEqual(["scam", "deal"]);
  const routes = Object.entries(evaluation.route as Readonly<Record<string, AnswerRoute>>);
  const printedBy = (step: number, id: string) => {
    const own = (steps[step - 1]?.answers ?? {}) as Readonly<
      Record<string, { probability: number }>
    >;
    return own[id]?.probability ?? Number.NaN;
  };
  const isSureOf = {
    scam: (yes: number) => Math.max(yes, 1 - yes) >= 0.8,
    deal: (yes: number) => yes <= 0.3 || yes >= 0.7,
  };
  for (const [name, { step, isSure, failure }] of routes) {
    const id = name as keyof typeof questions;
    expect(answers[id].probability).toBe(printedBy(step, id));
    expect(step > 1 || failure !== null).toBe(!isSureOf[id](printedBy(1, id)));
    // Only the last one in a chain has no bounds.
    expect(failure === null || isSure === false).toBe(true);
  }
}

/** Plays a few calls at once on two or three services within a budget, and checks each. */
async function play(seed: number): Promise<{ billed: number; maxTokens: number; asked: number }> {
  const random = seededRandom(seed);
  const billed = { tokens: 0, usd: 0 };
  const sent = new Map<string, string[][]>();
  const evaluatorOf = (name: string, calls: number, usdPerMillionTokens: number) => {
    const onBilled = (tokens: number) => {
      billed.tokens += tokens;
      billed.usd += (tokens * usdPerMillionTokens) / 1e6;
    };
    const onSend = (ids: readonly string[]) =>
      void sent.set(name, [...(sent.get(name) ?? []), [...ids]]);
    const isFailing = random() < 0.8;
    const facts = { name, calls, usdPerMillionTokens, random, isFailing, onSend, onBilled };
    const retry = { initialDelayMs: 1, maxDelayMs: 1 };
    const options = { transport: serviceOf(facts), maxRetries: random() < 0.5 ? 0 : 2, retry };
    return createEvaluator(options, { random: () => 0 });
  };
  const most = mostTokens({ state: {}, questions });
  const maxTokens = Math.round(most * (1 + 30 * random()));
  // Without the highest price, lost answers before the first price have none.
  const maxCostUsd = random() < 0.5 ? undefined : (maxTokens * 20) / 1e6;
  const spent = budget({ maxTokens, ...(maxCostUsd && { maxCostUsd, usdPerMillionTokens: 40 }) });
  const calls = random() < 0.5 ? 1 : 6;
  let next = evaluatorOf("second", calls, 20);
  if (random() < 0.3) next = next.with(fallback(evaluatorOf("third", 3, 40)));
  let both = evaluatorOf("first", 1, 1).with(escalate(next, bounds));
  // A third one in a chain is asked about what the second one is unsure of.
  if (random() < 0.3) both = both.with(escalate(evaluatorOf("last", 2, 30), bounds));
  const evaluator = both.with(spent);
  const ask = async () => checkAnswers(await evaluator.evaluate({ state: {}, questions }));
  for (let round = 0; round < 3; round += 1) {
    await Promise.allSettled([ask(), ask()]).then((outcomes) => {
      for (const outcome of outcomes) {
        const isBroken = outcome.status === "rejected" && /expect/.test(String(outcome.reason));
        if (isBroken) throw outcome.reason;
      }
    });
    const { tokens, costUsd } = spent.spending;
    expect(tokens).toBeGreaterThanOrEqual(billed.tokens);
    expect(tokens).toBeLessThanOrEqual(maxTokens);
    if (maxCostUsd === undefined) continue;
    expect(costUsd).toBeGreaterThanOrEqual(billed.usd - 1e-12);
    expect(costUsd).toBeLessThanOrEqual(maxCostUsd + 1e-12);
  }
  expect(spent.spending).toMatchObject({ reservedTokens: 0, reservedUsd: 0 });
  return { billed: billed.tokens, maxTokens, asked: sent.get("second")?.length ?? 0 };
}

test("whatever fails at two engines, no budget is passed, no money is lost, and each first answer stays", async () => {
  const games = await Promise.all(Array.from({ length: 200 }, (_, seed) => play(1 + seed)));
  expect(games.filter(({ asked }) => asked > 0).length).toBeGreaterThan(100);
});
