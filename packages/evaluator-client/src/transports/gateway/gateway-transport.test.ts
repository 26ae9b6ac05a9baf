import { expect, test } from "vitest";
import { readRuntime } from "../../clock.ts";
import { createEvaluator } from "../../create-evaluator.ts";
import { boolean } from "../../questions/kinds.ts";
import type { EvaluationRequest } from "../../questions/request.ts";
import { emailRequest } from "../../testing/email-evaluation.ts";
import { gatewayTransport, type GatewayWire } from "./gateway-transport.ts";

const questions = { sure: boolean("sure?") };
const context = { clock: readRuntime({}).clock, signal: new AbortController().signal };

async function bodyOf(wire: GatewayWire, request: EvaluationRequest): Promise<unknown> {
  let body: unknown;
  const fetch = async (_: string, init: RequestInit) => {
    body = init.body;
    return Response.json({});
  };
  await gatewayTransport({ apiKey: "a-gateway-key", wire, fetch }).send(request, context);
  return body;
}

function replyTo(json: unknown, headers: Record<string, string> = {}) {
  const fetch = async () => Response.json(json, { headers });
  return gatewayTransport({ apiKey: "a-gateway-key", fetch }).send(emailRequest, context);
}

test("sends only the contract's body", async () => {
  const request = { state: "text", questions, model: "other" };
  const body = '{"state":"text","questions":{"sure":{"type":"boolean","instructions":"sure?"}}}';
  expect(await bodyOf("evaluation-model", request)).toBe(body);
});

test.each([
  ["text", { type: "text", text: "text" }],
  [{ a: 1 }, { type: "json", value: { a: 1 } }],
])("sends the state %j in one part to the successor", async (state, part) => {
  const body = { stateParts: [part], questions };
  const sent = await bodyOf("decision-model", { state, questions });
  expect(JSON.parse(String(sent))).toEqual(body);
});

const routing = { canonicalSlug: "acme/evaluator" };

test.each<[unknown, string | null, string | null]>([
  [
    { providerMetadata: { gateway: { routing, generationId: "gen_1" } } },
    "acme/evaluator",
    "gen_1",
  ],
  [{ model: "acme/1", providerMetadata: { gateway: { routing } } }, "acme/1", null],
  [{ model: "acme/1", providerMetadata: {} }, "acme/1", null],
  [{ providerMetadata: { gateway: { generationId: "gen_1" } } }, null, "gen_1"],
  [{ providerMetadata: { gateway: { routing: {} } } }, null, null],
  [{ providerMetadata: { gateway: { generationId: 7 } } }, null, null],
  [{ providerMetadata: { gateway: { routing: { canonicalSlug: 7 } } } }, null, null],
  [{ providerMetadata: null }, null, null],
  ["text", null, null],
])("takes who answered from %j", async (json, modelId, requestId) => {
  const expected = { response: json, modelId, requestId, status: 200, raw: json };
  expect(await replyTo(json)).toEqual({ ...expected, headers: expect.anything() });
});

test.each<[Record<string, string>, string]>([
  [{ "x-request-id": "r1", "x-vercel-id": "r2" }, "r1"],
  [{ "x-vercel-id": "r2" }, "r2"],
  [{}, "gen_1"],
])("takes the request id from %j as %j", async (headers, requestId) => {
  const json = { providerMetadata: { gateway: { generationId: "gen_1" } } };
  expect(await replyTo(json, headers)).toMatchObject({ requestId });
});

type Answer = [status: number, body: unknown, headers?: Record<string, string>];

const check = "Check the request against the service's documentation.";
const otherWire = "If the gateway speaks the other generation, set the option wire:";

test.each<[Answer, GatewayWire, string, object]>([
  [
    [400, { error: { message: "Bad.", type: "invalid_request_error" } }],
    "evaluation-model",
    `The gateway answered 400 (invalid_request_error): "Bad." ${check} ${otherWire} "decision-model".`,
    { name: "StatusError", type: "invalid_request_error" },
  ],
  [
    [404, { error: { message: "None.", type: "model_not_found" } }],
    "decision-model",
    `The gateway answered 404 (model_not_found): "None." Check the base URL and the model id. ${otherWire} "evaluation-model".`,
    { name: "StatusError", type: "model_not_found" },
  ],
  [
    [403, { error: { message: "None.", type: "model_not_found" } }],
    "evaluation-model",
    'The gateway answered 403 (model_not_found): "None." Check the key, and that it may use this model.',
    { name: "StatusError" },
  ],
  [
    [403, { error: { message: "Free tier users do not have access to this model." } }],
    "evaluation-model",
    'The gateway answered 403: "Free tier users do not have access to this model." Buy credits for the account to go on.',
    { name: "GatewayRateLimitError", needsPaidCredits: true, isRetryable: false },
  ],
  [
    [422, {}],
    "evaluation-model",
    `The gateway answered 422. ${check}`,
    { name: "StatusError", type: null, needsPaidCredits: false },
  ],
  [
    [402, {}],
    "evaluation-model",
    "The gateway answered 402. Buy credits for the account to go on.",
    { name: "StatusError", needsPaidCredits: true },
  ],
  [
    [400, { error: { message: "No access for free-tier users.", type: "forbidden" } }],
    "evaluation-model",
    'The gateway answered 400 (forbidden): "No access for free-tier users." Buy credits for the account to go on.',
    { name: "GatewayRateLimitError", needsPaidCredits: true },
  ],
  [
    [429, { message: "No access for free-tier users." }],
    "evaluation-model",
    'The gateway answered 429: "No access for free-tier users." Buy credits for the account to go on.',
    { name: "GatewayRateLimitError", needsPaidCredits: true },
  ],
  [
    [400, { error: "No access for free-tier users.", message: "No." }],
    "evaluation-model",
    'The gateway answered 400: "No access for free-tier users." Buy credits for the account to go on.',
    { name: "GatewayRateLimitError", type: null, needsPaidCredits: true },
  ],
  [
    [400, { error: { message: "No access for free-tier users.", type: 7 } }],
    "evaluation-model",
    'The gateway answered 400: "No access for free-tier users." Buy credits for the account to go on.',
    { name: "GatewayRateLimitError", type: null, needsPaidCredits: true },
  ],
  [
    [400, { error: { message: "Slow down.", type: "rate_limit_exceeded" } }],
    "evaluation-model",
    `The gateway answered 400 (rate_limit_exceeded): "Slow down." ${check} ${otherWire} "decision-model".`,
    { name: "GatewayRateLimitError", needsPaidCredits: false },
  ],
  [
    [400, { error: { message: "Who?", type: "authentication_error" } }],
    "evaluation-model",
    `The gateway answered 400 (authentication_error): "Who?" ${check} ${otherWire} "decision-model".`,
    { name: "AuthenticationError" },
  ],
  [
    [500, { error: { message: "Oh." }, generationId: "gen_9" }, { "x-vercel-id": "v1" }],
    "evaluation-model",
    'The gateway answered 500: "Oh." The service failed; try again later.',
    { name: "StatusError", generationId: "gen_9", requestId: "v1", type: null },
  ],
  [
    [500, { error: "Oh." }],
    "evaluation-model",
    'The gateway answered 500: "Oh." The service failed; try again later.',
    { generationId: null, requestId: null },
  ],
  [
    [401, { error: { message: 7, type: "forbidden" }, generationId: 7 }],
    "evaluation-model",
    "The gateway answered 401 (forbidden). Check the key, and that it may use this model.",
    { name: "AuthenticationError", type: "forbidden", generationId: null },
  ],
  [
    [401, { error: [{ message: "No." }] }],
    "evaluation-model",
    "The gateway answered 401. Check the key, and that it may use this model.",
    { name: "AuthenticationError", type: null },
  ],
])("reports the gateway's %j over %s", async (answer, wire, message, fields) => {
  const [status, body, headers = {}] = answer;
  const fetch = async () => Response.json(body, { status, headers });
  const transport = gatewayTransport({ apiKey: "a-gateway-key", wire, fetch });
  const asked = createEvaluator({ transport, maxRetries: 0 }).evaluate(emailRequest);
  await expect(asked).rejects.toMatchObject({ message, ...fields });
});

test.each([404, 405])("a %d at an address without /v4/ai says that it lacks it", async (status) => {
  const messageAt = async (baseUrl: string) => {
    const fetch = async () => new Response("<h1>None</h1>", { status });
    const transport = gatewayTransport({ apiKey: "a-gateway-key", baseUrl, fetch });
    const asked = createEvaluator({ transport, maxRetries: 0 }).evaluate(emailRequest);
    return String(await asked.catch((error: unknown) => error));
  };
  for (const baseUrl of ["https://gateway.example", "https://gateway.example/v1"]) {
    expect(await messageAt(baseUrl)).toContain("ends with /v4/ai");
  }
  expect(await messageAt("https://gateway.example/v4/ai/")).not.toContain("ends with");
});
