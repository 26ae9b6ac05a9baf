import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import {
  AuthenticationError,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  RefusalError,
  StatusError,
} from "../errors.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { statusDetails } from "../testing/status-details.ts";
import { fallback } from "./fallback.ts";

const failures = {
  connection: new ConnectionError("Lost.", { maybeBilled: false, isRetryable: true }),
  unavailable: new StatusError("Unavailable.", statusDetails(503)),
  key: new AuthenticationError("Wrong key.", statusDetails(401, { isRetryable: false })),
  broken: new InvalidResponseError("Broken.", { questionId: null, rule: "shape" }),
  refusal: new RefusalError("No.", { questionIds: ["scam"] }),
};

function helped(failure: Error, options?: Parameters<typeof fallback>[1]) {
  const first = countingTransport({ name: "first", answer: () => Promise.reject(failure) });
  const second = countingTransport({ name: "second" });
  const other = createEvaluator({ transport: second.transport });
  const own = createEvaluator({ transport: first.transport, maxRetries: 0 });
  return { evaluator: own.with(fallback(other, options)), second };
}

test.each(["connection", "unavailable", "broken"] as const)(
  "asks the other after a %s failure, and the evaluation says who answered",
  async (kind) => {
    const { evaluator, second } = helped(failures[kind]);
    const evaluation = await evaluator.evaluate(scamRequest("a"));
    expect(evaluation.transport).toBe("second");
    expect(second.states).toEqual(["a"]);
  },
);

test.each(["key", "refusal"] as const)("lets a %s failure stand", async (kind) => {
  const { evaluator, second } = helped(failures[kind]);
  await expect(evaluator.evaluate(scamRequest("a"))).rejects.toBe(failures[kind]);
  expect(second.states).toEqual([]);
});

test("asks after the errors that are named, subclasses included, and no others", async () => {
  const on = [StatusError];
  expect((await helped(failures.key, { on }).evaluator.evaluate(scamRequest("a"))).transport).toBe(
    "second",
  );
  const { evaluator } = helped(failures.connection, { on });
  await expect(evaluator.evaluate(scamRequest("a"))).rejects.toBe(failures.connection);
});

test("a function says after which errors", async () => {
  const on = (error: unknown) => error instanceof StatusError && error.status === 401;
  expect((await helped(failures.key, { on }).evaluator.evaluate(scamRequest("a"))).transport).toBe(
    "second",
  );
  const { evaluator } = helped(failures.unavailable, { on });
  await expect(evaluator.evaluate(scamRequest("a"))).rejects.toBe(failures.unavailable);
});

test("asks nobody once the call is aborted", async () => {
  const controller = new AbortController();
  const answer = () => {
    controller.abort(new Error("enough"));
    return Promise.reject(failures.connection);
  };
  const { transport } = countingTransport({ answer });
  const second = countingTransport();
  const other = createEvaluator({ transport: second.transport });
  const evaluator = createEvaluator({ transport }).with(fallback(other));
  const { signal } = controller;
  await expect(evaluator.evaluate(scamRequest("a"), { signal })).rejects.toThrow("enough");
  expect(second.states).toEqual([]);
});

test("asks nobody once the call is aborted, even for a reason that is meant", async () => {
  const controller = new AbortController();
  const answer = () => {
    controller.abort(failures.connection);
    return new Promise(() => undefined);
  };
  const { transport } = countingTransport({ answer });
  let asked = 0;
  const other = createEvaluator({ transport: countingTransport().transport });
  const evaluate: typeof other.evaluate = (request) => {
    asked += 1;
    return other.evaluate(request);
  };
  const evaluator = createEvaluator({ transport }).with(fallback({ ...other, evaluate }));
  const { signal } = controller;
  const call = evaluator.evaluate(scamRequest("a"), { signal });
  await expect(call).rejects.toBe(failures.connection);
  expect(asked).toBe(0);
});

test("rejects what is no evaluator, and what is no class, by name", () => {
  expect(() => fallback({} as never)).toThrow(ConfigurationError);
  expect(() => fallback({} as never)).toThrow("evaluator");
  const other = createEvaluator({ transport: countingTransport().transport });
  expect(() => fallback(other, { on: ["ConnectionError" as never] })).toThrow("on.0");
});

test("asks the other with the headers of the call", async () => {
  const { transport } = countingTransport({ answer: () => Promise.reject(failures.connection) });
  const asked: unknown[] = [];
  const second = countingTransport().transport;
  const send: typeof second.send = (request, context) => {
    asked.push(context.headers);
    return second.send(request, context);
  };
  const other = createEvaluator({ transport: { ...second, send } });
  const evaluator = createEvaluator({ transport, maxRetries: 0 }).with(fallback(other));
  const headers = { "x-request-id": "mine" };
  await evaluator.evaluate(scamRequest("a"), { headers });
  expect(asked).toEqual([headers]);
});
