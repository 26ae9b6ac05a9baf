import { expect, test } from "vitest";
import { toDecisionModel } from "./ai-sdk/to-decision-model.ts";
import { createCatalog } from "./catalog/catalog.ts";
import { createEvaluator } from "./create-evaluator.ts";
import { record } from "./exchanges/record.ts";
import { replay } from "./exchanges/replay.ts";
import { budget } from "./middleware/budget.ts";
import { cache } from "./middleware/cache.ts";
import { fallback } from "./middleware/fallback.ts";
import { openTelemetryTracing } from "./opentelemetry/open-telemetry-tracing.ts";
import { memoryLimits } from "./pacing/limit-store.ts";
import { createPacer } from "./pacing/pacer.ts";
import { sharedPacer } from "./pacing/shared-pacer.ts";
import { countingTransport, scamRequest } from "./testing/counting-transport.ts";
import { directTransport } from "./transports/direct/direct-transport.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import { logprobsTransport } from "./transports/logprobs/logprobs-transport.ts";

const { transport, states } = countingTransport();
const evaluator = createEvaluator({ transport });
const catalog = createCatalog({ fetch: () => expect.unreachable("nothing may be sent") });
const request = scamRequest("text");
const local = { baseUrl: "http://127.0.0.1:1", model: "m" };
const shared = { store: memoryLimits(), key: "team", limits: { requestsPerMinute: 9 } };
const unused = new URL("./no-such-folder", import.meta.url);

/** Each front-door function by name, with an option that it does not have, and with what to write. */
test.each<[string, (options: never) => unknown, object, string]>([
  ["createEvaluator", createEvaluator, { timeout: 5 }, '"attemptTimeoutMs" or "deadlineMs"'],
  ["createEvaluator", createEvaluator, { maxRetires: 1 }, 'use "maxRetries"'],
  ["createEvaluator", createEvaluator, { apiKey: "secret" }, "gatewayTransport({ apiKey })"],
  ["its limits", (limits) => createEvaluator({ limits }), { rpm: 1 }, '"requestsPerMinute", "to'],
  [
    "its questionLimits",
    (questionLimits) => createEvaluator({ questionLimits }),
    { maxOption: 1 },
    '"maxOptions"',
  ],
  [
    "its runtime",
    (runtime) => createEvaluator({ transport }, runtime),
    { clocks: 1 },
    'use "clock"',
  ],
  [
    "evaluate",
    (options) => evaluator.evaluate(request, options),
    { abortSignal: 1 },
    'use "signal"',
  ],
  [
    "evaluateMany",
    (options) => evaluator.evaluateMany([request], options),
    { concurency: 9 },
    'use "concurrency"',
  ],
  [
    "evaluateMany",
    (options) => evaluator.evaluateMany([request], options),
    { maxRetry: 9 },
    'use "maxRetries"',
  ],
  ["gatewayTransport", gatewayTransport, { model: "m" }, 'use "modelId"'],
  [
    "directTransport",
    (options: object) => directTransport({ apiKey: null, ...options }),
    { baseURL: "" },
    'use "baseUrl"',
  ],
  [
    "logprobsTransport",
    (options: object) => logprobsTransport({ ...local, ...options }),
    { minMass: 1 },
    'use "minLabelMass"',
  ],
  ["createPacer", createPacer, { requestPerMinute: 1 }, 'use "requestsPerMinute"'],
  ["createPacer's runtime", (runtime) => createPacer({}, runtime), { rand: 1 }, 'use "random"'],
  [
    "sharedPacer",
    (options: object) => sharedPacer({ ...shared, ...options }),
    { lease: 1 },
    'use "leaseMs"',
  ],
  [
    "sharedPacer's runtime",
    (runtime) => sharedPacer(shared, runtime),
    { time: 1 },
    '"clock", "random"',
  ],
  ["memoryLimits", memoryLimits, { clok: 1 }, 'use "clock"'],
  ["createCatalog", createCatalog, { timeoutMs: 5 }, '"attemptTimeoutMs" or "deadlineMs"'],
  ["listModels", (options) => catalog.listModels(options), { sginal: 1 }, '"signal"'],
  ["listEndpoints", (options) => catalog.listEndpoints("a/b", options), { x: 1 }, '"signal"'],
  ["budget", budget, { maxCost: 5 }, 'use "maxCostUsd"'],
  ["cache", cache, { ttl: 5 }, '"store", "maxEntries", "onStoreError"'],
  ["fallback", (options) => fallback(evaluator, options), { only: [] }, '"on"'],
  [
    "toDecisionModel",
    (options) => toDecisionModel(evaluator, options),
    { model: "m" },
    'use "modelId"',
  ],
  ["openTelemetryTracing", openTelemetryTracing, { recordContents: true }, 'use "recordContent"'],
  ["record", (options) => record(unused, options), { redacted: 1 }, 'use "redact"'],
  ["replay", (options) => replay(unused, options), { transports: 1 }, 'use "transport"'],
])("%s names an option that it does not have", async (_, call, options, nearest) => {
  const [name] = Object.keys(options) as [string];
  // Some throw and others reject.
  const refused = Promise.resolve().then(() => call(options as never));
  const error = await refused.catch((thrown: unknown) => thrown);
  expect(error).toHaveProperty("name", "ConfigurationError");
  expect(error).toHaveProperty("message", expect.stringContaining(nearest));
  expect(error).toHaveProperty("message", expect.stringMatching(`${name}" is unknown: `));
  expect(states).toEqual([]);
});

test("a transport may have members of its own, and a price be an entry of the catalog", () => {
  const own = { ...transport, version: 7 };
  expect(() => createEvaluator({ transport: own })).not.toThrow();
  const price = { id: "a/b", inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: 1 };
  expect(() => logprobsTransport({ ...local, price })).not.toThrow();
});

test.each([null, 5, "key"])(
  "options that are no object but %j are refused as a whole",
  (options) => {
    expect(() => createEvaluator(options as never)).toThrow("The options are wrong");
  },
);
