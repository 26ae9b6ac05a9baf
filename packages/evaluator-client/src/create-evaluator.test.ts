import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { ConfigurationError, InvalidRequestError, InvalidResponseError } from "./errors.ts";
import type { EvaluatorOptions } from "./evaluator-options.ts";
import type { Questions } from "./questions/kinds.ts";
import { keyFromEnvironment } from "./transport-from-environment.ts";
import { directBody, emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { directTransport } from "./transports/direct/direct-transport.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";

function gatewayAnswering(body: unknown) {
  return gatewayTransport({ apiKey: "a-gateway-key", fetch: async () => Response.json(body) });
}

async function failureOf(transport: EvaluatorOptions["transport"]): Promise<unknown> {
  const evaluator = createEvaluator({ ...(transport && { transport }) });
  return evaluator.evaluate(emailRequest).catch((error: unknown) => error);
}

test("gives the contract's body and what a caller would otherwise dig for", async () => {
  const runtime = { clock: new ManualClock() };
  const options = { transport: gatewayAnswering(gatewayBody) };
  const evaluation = await createEvaluator(options, runtime).evaluate(emailRequest);
  expect(evaluation).toEqual({
    ...gatewayBody,
    confidence: { category: 0.82, importance: 0.4 },
    costUsd: 0.000014112,
    transport: "gateway",
    modelId: "typesafe-ai/jev",
    requestId: "gen_1",
    status: 200,
    headers: { "content-type": "application/json" },
    timing: { totalMs: 0, providerMs: 140, attempts: 1 },
    raw: gatewayBody,
  });
});

test("gives the direct answer in the gateway's form", async () => {
  const headers = { "x-typesafe-request-id": "req_1" };
  const transport = directTransport({
    apiKey: "a-vendor-key",
    vendor: "acme",
    fetch: async () => Response.json(directBody, { headers }),
  });
  const runtime = { clock: new ManualClock() };
  const evaluation = await createEvaluator({ transport }, runtime).evaluate(emailRequest);
  expect(evaluation).toEqual({
    answers: gatewayBody.answers,
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    usage: { inputTokens: 336, outputTokens: 3 },
    warnings: [],
    providerMetadata: {
      acme: {
        confidence: { category: 0.82, importance: 0.4 },
        legend: { importance: { "0": "ignore: nothing to do", "1": "high: reply within days" } },
      },
    },
    confidence: { category: 0.82, importance: 0.4 },
    costUsd: null,
    transport: "direct",
    modelId: "jev-1",
    requestId: "req_1",
    status: 200,
    headers: { "content-type": "application/json", ...headers },
    timing: { totalMs: 0, providerMs: null, attempts: 1 },
    raw: directBody,
  });
});

test("leaves null what the service does not say", async () => {
  const body = { ...gatewayBody, providerMetadata: {} };
  const evaluator = createEvaluator({ transport: gatewayAnswering(body) });
  expect(await evaluator.evaluate(emailRequest)).toMatchObject({
    confidence: { category: null, importance: null },
    costUsd: null,
    modelId: null,
    requestId: null,
    timing: { providerMs: null },
  });
});

test("reads the price when there is no routing", async () => {
  const body = { ...gatewayBody, providerMetadata: { gateway: { marketCost: "0.000014" } } };
  const evaluator = createEvaluator({ transport: gatewayAnswering(body) });
  expect(await evaluator.evaluate(emailRequest)).toMatchObject({ costUsd: 0.000014 });
});

test("sends nothing for a request that cannot be answered", async () => {
  const fetch = async () => expect.unreachable("nothing may be sent");
  const evaluator = createEvaluator({ transport: gatewayTransport({ apiKey: "a-key", fetch }) });
  const questions: Questions = {};
  const nothing = evaluator.evaluate({ state: "text", questions });
  await expect(nothing).rejects.toBeInstanceOf(InvalidRequestError);
  const aborted = evaluator.evaluate(emailRequest, { signal: AbortSignal.abort("enough") });
  await expect(aborted).rejects.toBe("enough");
});

test.each<[string, unknown]>([
  ["no answers", { ...gatewayBody, answers: undefined }],
  ["answers in a list", { ...gatewayBody, answers: [] }],
  ["usage of another kind", { ...gatewayBody, usage: 7 }],
  [
    "a rounding of -1 places",
    { ...gatewayBody, rounding: { probabilityDecimals: -1, scoreDecimals: 2 } },
  ],
  ["no object", "text"],
])("rejects a gateway body with %s", async (_, body) => {
  const error = await failureOf(gatewayAnswering(body));
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(error).toMatchObject({ rule: "body-shape", questionId: null, attempts: 1 });
});

test("rejects a direct body without the vendor's shape", async () => {
  const fetch = async () => Response.json({ answers: { category: 1 }, usage: {} });
  const error = await failureOf(directTransport({ apiKey: null, fetch }));
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(error).toMatchObject({ rule: "body-shape" });
});

test.each<[string, EvaluatorOptions, string, null]>([
  ["half a retry", { env: { AI_GATEWAY_API_KEY: "k" }, maxRetries: 0.5 }, "maxRetries", null],
  ["no time", { env: { AI_GATEWAY_API_KEY: "k" }, deadlineMs: 0 }, "deadlineMs", null],
  [
    "endless time",
    { env: { AI_GATEWAY_API_KEY: "k" }, attemptTimeoutMs: Infinity },
    "attemptTimeoutMs",
    null,
  ],
])("with %s says which option and variable", (_, options, option, environmentVariable) => {
  const create = () => createEvaluator(options);
  expect(create).toThrow(ConfigurationError);
  expect(create).toThrow(expect.objectContaining({ option, environmentVariable }));
});

test.each([
  [{ AI_GATEWAY_API_KEY: " g ", EVALUATOR_DIRECT_API_KEY: "d" }, "g"],
  [{ EVALUATOR_TRANSPORT: "direct", AI_GATEWAY_API_KEY: "g", EVALUATOR_DIRECT_API_KEY: "d" }, "d"],
  [{ EVALUATOR_TRANSPORT: "logprobs", EVALUATOR_LOGPROBS_API_KEY: "l" }, "l"],
  [{ EVALUATOR_TRANSPORT: "logprobs", AI_GATEWAY_API_KEY: "g" }, null],
  [{}, null],
])("of %j the key in use is %j", (env, key) => {
  expect(keyFromEnvironment(env)).toBe(key);
});

test("no key is in use by a transport that does not exist", () => {
  const env = { EVALUATOR_TRANSPORT: "pigeon", AI_GATEWAY_API_KEY: "g" };
  expect(() => keyFromEnvironment(env)).toThrow(ConfigurationError);
});

test("takes the transport, key, address and model from the environment", async () => {
  const env = {
    EVALUATOR_TRANSPORT: "direct",
    EVALUATOR_DIRECT_API_KEY: "a-vendor-key",
    EVALUATOR_DIRECT_BASE_URL: "http://127.0.0.1:9/base/",
    EVALUATOR_MODEL_ID: "local-model",
  };
  expect(() => createEvaluator({ env })).not.toThrow();
  const sent: unknown[] = [];
  const transport = directTransport({
    env,
    async fetch(url, { headers, body }) {
      sent.push(url, headers, body);
      return Response.json(directBody);
    },
  });
  await createEvaluator({ transport }).evaluate(emailRequest);
  expect(sent).toEqual([
    "http://127.0.0.1:9/base/v1/systemone",
    { Authorization: "Bearer a-vendor-key", "Content-Type": "application/json" },
    expect.stringMatching(/^\{"model":"local-model","state":/),
  ]);
});

test.each(["Authorization", "ai-model-id", "HOST", "content-type", "content-length"])(
  "does not let the header %s be replaced",
  (name) => {
    const create = () => gatewayTransport({ apiKey: "k", headers: { [name]: "x" } });
    expect(create).toThrow(
      expect.objectContaining({ name: "ConfigurationError", option: "headers" }),
    );
  },
);

test("never shows a key that cannot be sent", () => {
  const create = () => gatewayTransport({ apiKey: "planted\r\nsecret" });
  expect(create).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining("planted") }),
  );
});

test.each<[string, unknown]>([
  ["transport", "gateway"],
  ["transport", {}],
  ["pacer", { admit: true }],
  ["env", "AI_GATEWAY_API_KEY=k"],
  ["logger", "console"],
  ["logger", {}],
  ["logger", { warn: "loudly" }],
  ["tracing", {}],
  ["onAttempt", "print"],
  ["onWait", 5],
  ["limits.requestsPerMinute", { limits: { requestsPerMinute: 0 } }],
  ["questionLimits.maxOptions", { questionLimits: { maxOptions: 0.5 } }],
])("names the option %s when it is wrong", (option, wrong) => {
  const options = option.includes(".") ? (wrong as object) : { [option]: wrong };
  const create = () => createEvaluator({ env: { AI_GATEWAY_API_KEY: "k" }, ...options });
  expect(create).toThrow(
    expect.objectContaining({
      name: "ConfigurationError",
      option,
      message: expect.stringContaining(`"${option}"`),
    }),
  );
});

test.each<[string, unknown]>([
  ["an object", {}],
  ["a number", 42],
  ["nothing", undefined],
  ["null", null],
  ["a function", () => []],
  ["text", "one mail"],
])("names the requests of a batch when they are %s", (_, requests) => {
  const evaluator = createEvaluator({ transport: gatewayAnswering(gatewayBody) });
  const ask = () => evaluator.evaluateMany(requests as never);
  expect(ask).toThrow(expect.objectContaining({ name: "ConfigurationError", option: "requests" }));
  expect(ask).toThrow(
    'The option "requests" is not an array or iterable; for one request, use evaluate().',
  );
});

test("takes the requests of a batch from an iterable of another realm", async () => {
  const evaluator = createEvaluator({ transport: gatewayAnswering(gatewayBody) });
  const source = "(async function* (request) { yield request; yield request; })";
  const requests = runInNewContext(source)(emailRequest) as AsyncIterable<typeof emailRequest>;
  const outcomes = [];
  for await (const { status } of evaluator.evaluateMany(requests)) outcomes.push(status);
  expect(outcomes).toEqual(["succeeded", "succeeded"]);
});
