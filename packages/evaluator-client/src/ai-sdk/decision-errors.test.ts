import { experimental_decide as decide } from "ai";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import {
  GatewayRateLimitError,
  InvalidResponseError,
  RefusalError,
  TimeoutError,
} from "../errors.ts";
import { answeringModel, scamBody, scamQuestion } from "../testing/answering-model.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { toDecisionModel } from "./to-decision-model.ts";

test("a rate limit comes out as ours, and is not tried again", async () => {
  const { model, bodies } = answeringModel(() =>
    Response.json(
      { error: { message: "Slow down." } },
      { status: 429, headers: { "retry-after": "7" } },
    ),
  );
  const failure = decide({ model, state: "hi", questions: scamQuestion });
  await expect(failure).rejects.toBeInstanceOf(GatewayRateLimitError);
  await expect(failure).rejects.toMatchObject({ status: 429, retryAfterMs: 7000, attempts: 1 });
  expect(bodies).toHaveLength(1);
});

test("the evaluator's own retries still happen", async () => {
  const statuses = [500, 200];
  const fetch = async () => Response.json(scamBody, { status: statuses.shift() ?? 418 });
  const transport = gatewayTransport({ apiKey: "a-gateway-key", env: {}, fetch });
  const clock = new ManualClock();
  const model = toDecisionModel(createEvaluator({ transport }, { clock }));
  const decision = decide({ model, state: "hi", questions: scamQuestion });
  await clock.advance(60_000);
  expect((await decision).answers.scam.probability).toBe(0.04);
  expect(statuses).toEqual([]);
});

test("a refusal comes out as ours with the ids", async () => {
  const body = { ...scamBody, answers: { scam: { type: "refusal" } } };
  const { model, bodies } = answeringModel(() => Response.json(body));
  const failure = decide({ model, state: "hi", questions: scamQuestion });
  await expect(failure).rejects.toBeInstanceOf(RefusalError);
  await expect(failure).rejects.toMatchObject({ questionIds: ["scam"] });
  expect(bodies).toHaveLength(1);
});

test("answers that break the contract come out as ours", async () => {
  const body = { ...scamBody, answers: { scam: { type: "boolean", probability: 2 } } };
  const { model } = answeringModel(() => Response.json(body));
  const failure = decide({ model, state: "hi", questions: scamQuestion });
  await expect(failure).rejects.toBeInstanceOf(InvalidResponseError);
  await expect(failure).rejects.toMatchObject({ rule: "probabilities-range", questionId: "scam" });
});

test("a time limit comes out as ours", async () => {
  const fetch = () => new Promise<Response>(() => undefined);
  const transport = gatewayTransport({ apiKey: "a-gateway-key", env: {}, fetch });
  const clock = new ManualClock();
  const model = toDecisionModel(createEvaluator({ transport, deadlineMs: 1000 }, { clock }));
  const failure = decide({ model, state: "hi", questions: scamQuestion }).catch(
    (error: unknown) => error,
  );
  await clock.advance(1000);
  expect(await failure).toBeInstanceOf(TimeoutError);
});

test.each(["enough", new Error("enough"), undefined])(
  "an abort with %o ends the call with its reason",
  async (reason) => {
    const controller = new AbortController();
    const aborted = Promise.withResolvers<unknown>();
    const fetch = (_url: string, { signal }: RequestInit) => {
      signal?.addEventListener("abort", () => aborted.resolve(signal.reason));
      controller.abort(reason);
      return new Promise<Response>(() => undefined);
    };
    const transport = gatewayTransport({ apiKey: "a-gateway-key", env: {}, fetch });
    const model = toDecisionModel(createEvaluator({ transport }));
    const { signal: abortSignal } = controller;
    const failure = decide({ model, state: "hi", questions: scamQuestion, abortSignal });
    const thrown = await failure.catch((error: unknown) => error);
    expect(abortSignal.aborted).toBe(true);
    expect(thrown).toBe(abortSignal.reason);
    expect(await aborted.promise).toBe(abortSignal.reason);
  },
);
