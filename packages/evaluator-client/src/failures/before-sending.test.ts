import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { boolean, choice, score } from "../questions/kinds.ts";
import {
  privateHeader,
  privateKey,
  privateRequest,
  secretWords,
  shownTexts,
} from "../testing/private-call.ts";
import { transportFromEnvironment } from "../transport-from-environment.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

const { state, questions } = privateRequest;
const cyclic: Record<string, unknown> = { ...state };
cyclic["self"] = cyclic;

test.each<[string, unknown, string | null]>([
  ["no question", { state, questions: {} }, null],
  ["no state", { questions }, null],
  ["a list as state", { state: [state], questions }, null],
  ["a number JSON cannot hold", { state: { ...state, age: Number.NaN }, questions }, null],
  ["a cycle", { state: cyclic, questions }, null],
  ["a date inside", { state: { ...state, date: new Date(0) }, questions }, null],
  [
    "no option",
    { state, questions: { ...questions, odd: { ...choice("which?", { a: "A" }), criteria: {} } } },
    "odd",
  ],
  [
    "no level",
    { state, questions: { ...questions, odd: { ...score("how?", ["a"]), criteria: [] } } },
    "odd",
  ],
  ["no question type", { state, questions: { odd: { instructions: state.subject } } }, "odd"],
  ["wrong criteria", { state, questions: { odd: boolean("sure?", state as never) } }, "odd"],
])("sends nothing for a request with %s", async (_, request, questionId) => {
  const fetch = async () => expect.unreachable("nothing may be sent");
  const transport = gatewayTransport({ apiKey: privateKey, fetch });
  const asked = createEvaluator({ transport }).evaluate(request as never);
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  const fields = { name: "InvalidRequestError", questionId, isRetryable: false, attempts: 0 };
  expect(error).toMatchObject(fields);
  expect(shownTexts(error)).not.toMatch(secretWords);
});

test.each<[string, () => unknown, string, string | null]>([
  [
    "a key with a line break",
    () => gatewayTransport({ apiKey: `${privateKey}\r\nx: 1` }),
    "apiKey",
    "AI_GATEWAY_API_KEY",
  ],
  [
    "a key with a quotation mark around it",
    () => directTransport({ apiKey: `“${privateKey}”` }),
    "apiKey",
    "EVALUATOR_DIRECT_API_KEY",
  ],
  [
    "a header that cannot be sent",
    () => gatewayTransport({ apiKey: privateKey, headers: { "x-tenant": `${privateHeader}\n` } }),
    "headers",
    null,
  ],
  [
    "a key in the base URL",
    () => directTransport({ apiKey: null, baseUrl: `https://${privateKey}@service.example` }),
    "baseUrl",
    "EVALUATOR_DIRECT_BASE_URL",
  ],
  [
    "a key as the base URL",
    () => gatewayTransport({ apiKey: privateKey, baseUrl: privateKey }),
    "baseUrl",
    "EVALUATOR_BASE_URL",
  ],
  [
    "a key as the transport",
    () => transportFromEnvironment({ EVALUATOR_TRANSPORT: privateKey }),
    "transport",
    "EVALUATOR_TRANSPORT",
  ],
])("rejects %s without showing it", (_, create, option, environmentVariable) => {
  const error = thrownBy(create);
  const fields = {
    name: "ConfigurationError",
    option,
    environmentVariable,
    isRetryable: false,
    attempts: 0,
  };
  expect(error).toMatchObject(fields);
  expect(shownTexts(error)).not.toMatch(secretWords);
});

function thrownBy(create: () => unknown): unknown {
  try {
    return create();
  } catch (error) {
    return error;
  }
}
