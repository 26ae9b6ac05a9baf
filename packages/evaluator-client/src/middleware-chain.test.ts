import { expect, expectTypeOf, test } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { ConfigurationError, InvalidRequestError } from "./errors.ts";
import { countingTransport, scamRequest } from "./testing/counting-transport.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import type { Middleware, MiddlewareCall } from "./evaluator.ts";
import type { Questions } from "./questions/kinds.ts";

function textOf({ state }: { state: unknown }): string {
  return typeof state === "string" ? state : "";
}

test("goes through the one added last first, and each sees what the next returns", async () => {
  const { transport, states } = countingTransport();
  const seen: string[] = [];
  const named =
    (name: string): Middleware =>
    async (request, next) => {
      seen.push(`${name} asks`);
      const evaluation = await next({ ...request, state: `${textOf(request)} ${name}` });
      seen.push(`${name} has ${evaluation.answers === undefined ? "nothing" : "answers"}`);
      return { ...evaluation, modelId: `${evaluation.modelId} ${name}` };
    };
  const evaluator = createEvaluator({ transport }).with(named("inner")).with(named("outer"));
  const evaluation = await evaluator.evaluate(scamRequest("text"));
  expect(states).toEqual(["text outer inner"]);
  expect(evaluation.modelId).toBe("a-model inner outer");
  expect(evaluation.transport).toBe("counting");
  expect(seen).toEqual(["outer asks", "inner asks", "inner has answers", "outer has answers"]);
});

test("leaves the evaluator that it is added to as it was", async () => {
  const { transport } = countingTransport();
  const evaluator = createEvaluator({ transport });
  const failing = evaluator.with(() => Promise.reject(new Error("not today")));
  await expect(failing.evaluate(scamRequest("text"))).rejects.toThrow("not today");
  expect((await evaluator.evaluate(scamRequest("text"))).answers.scam.probability).toBe(0.04);
});

test("is around each call of a batch, which keeps its types", async () => {
  const { transport, states } = countingTransport();
  const evaluator = createEvaluator({ transport }).with((request, next) =>
    next({ ...request, state: textOf(request).toUpperCase() }),
  );
  const batch = evaluator.evaluateMany([scamRequest("a"), scamRequest("b")]);
  for await (const item of batch) {
    if (item.status === "succeeded")
      expectTypeOf(item.evaluation.answers.scam.probability).toBeNumber();
  }
  expect(states).toEqual(["A", "B"]);
  expect(batch.totals).toMatchObject({ succeeded: 2, failed: 0 });
});

test("sees no request that cannot be answered, and sends none", async () => {
  const { transport, states } = countingTransport();
  let calls = 0;
  const evaluator = createEvaluator({ transport }).with((request, next) => {
    calls += 1;
    return next({ ...request, state: undefined as never });
  });
  const questions: Questions = {};
  await expect(evaluator.evaluate({ state: "text", questions })).rejects.toThrow(
    InvalidRequestError,
  );
  expect(calls).toBe(0);
  await expect(evaluator.evaluate(scamRequest("text"))).rejects.toThrow(InvalidRequestError);
  expect({ calls, states }).toEqual({ calls: 1, states: [] });
});

test("sees the call: its signal, its transport and what it would send", async () => {
  const { transport } = countingTransport();
  const clock = new ManualClock();
  const calls: MiddlewareCall[] = [];
  const evaluator = createEvaluator({ transport }, { clock }).with((request, next, call) => {
    calls.push(call);
    expect(call.estimate(request)).toMatchObject({ calls: 1, inputTokens: expect.any(Number) });
    return next(request);
  });
  await evaluator.evaluate(scamRequest("text"), { maxRetries: 1, deadlineMs: 300 });
  expect(calls).toEqual([
    expect.objectContaining({ transport: "counting", target: transport.target }),
  ]);
  const limits = { maxRetries: 1, deadlineMs: 300, attemptTimeoutMs: 30_000 };
  expect(calls[0]?.limits).toEqual(limits);
  await clock.advance(7);
  expect(calls[0]?.clock.now()).toBe(7);
});

test("is named if it returns nothing", async () => {
  const { transport } = countingTransport();
  const evaluator = createEvaluator({ transport });
  const forgetful = async (request: never, next: (request: never) => Promise<unknown>) => {
    await next(request);
  };
  const error = { name: "ConfigurationError", option: "middleware" };
  const asked = evaluator.with(forgetful as never).evaluate(scamRequest("text"));
  await expect(asked).rejects.toMatchObject(error);
  await expect(asked).rejects.toThrow('The middleware "forgetful" returned no evaluation');
  const outer = evaluator.with(forgetful as never).with((request, next) => next(request));
  await expect(outer.evaluate(scamRequest("text"))).rejects.toThrow('"forgetful"');
  const unnamed = [
    async () => undefined,
    (request: never, next: (request: never) => unknown) => next(request),
  ];
  const [nothing, passing] = unnamed as never[];
  const both = evaluator.with(nothing as never).with(passing as never);
  const place = 'The middleware "number 2 of 2, from outside" returned no evaluation';
  await expect(both.evaluate(scamRequest("text"))).rejects.toThrow(place);
});

test("is rejected where it is no function, and once the evaluator is closed", async () => {
  const { transport } = countingTransport();
  const evaluator = createEvaluator({ transport });
  const wrong = () => evaluator.with("cache" as never);
  expect(wrong).toThrow(ConfigurationError);
  expect(wrong).toThrow("with((request, next) => next(request))");
  const open = evaluator.with((request, next) => next(request));
  await evaluator.close();
  await expect(open.evaluate(scamRequest("text"))).rejects.toThrow("closed");
});
