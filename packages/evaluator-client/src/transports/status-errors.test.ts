import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import type { StatusError } from "../errors.ts";
import { emailRequest } from "../testing/email-evaluation.ts";
import { directTransport } from "./direct/direct-transport.ts";
import { gatewayTransport } from "./gateway/gateway-transport.ts";

const apiKey = "planted-secret-key";

async function failureOf(
  transport: typeof gatewayTransport | typeof directTransport,
  {
    status,
    body,
    headers = {},
  }: { status: number; body: unknown; headers?: Record<string, string> },
): Promise<StatusError> {
  const fetch = async () => Response.json(body, { status, headers });
  const evaluator = createEvaluator({ transport: transport({ apiKey, fetch }), maxRetries: 0 });
  return evaluator.evaluate(emailRequest).then(
    () => expect.unreachable("the status is an error"),
    (error: StatusError) => error,
  );
}

function gatewayError(type: string, message: string, rest: object = {}) {
  return { error: { message, type }, ...rest };
}

const freeTierLimit = "Free tier requests on this model are rate-limited. Upgrade to paid credits.";
const freeTierModel = "Free tier users do not have access to this model. Upgrade to paid credits.";

describe("gateway", () => {
  test("an account that is not verified, and a state that is too long, have their own sentences", async () => {
    const messageOf = async (status: number, type: string, text: string) =>
      (await failureOf(gatewayTransport, { status, body: gatewayError(type, text) })).message;
    expect(await messageOf(403, "customer_verification_required", "No.")).toContain(
      "add a payment card there; the key itself is right",
    );
    const words = "Input is too long: at most 32000 tokens.";
    const long = await messageOf(400, "invalid_request_error", words);
    expect(long).toContain("32000 tokens");
    expect(long).toContain("cut the state, or ask fewer questions");
    expect(long).not.toContain("wire");
  });

  test.each<[number, unknown, string, Partial<StatusError>]>([
    [
      401,
      gatewayError("authentication_error", "No."),
      "AuthenticationError",
      { type: "authentication_error" },
    ],
    [403, gatewayError("customer_verification_required", "No."), "AuthenticationError", {}],
    [403, gatewayError("forbidden", "No."), "AuthenticationError", {}],
    [403, gatewayError("invalid_request_error", "No."), "StatusError", {}],
    [400, gatewayError("invalid_request_error", "No."), "StatusError", { isRetryable: false }],
    [404, gatewayError("model_not_found", "No."), "StatusError", { type: "model_not_found" }],
    [402, gatewayError("insufficient_funds", "No."), "StatusError", { needsPaidCredits: true }],
    [
      429,
      gatewayError("rate_limit_exceeded", freeTierLimit),
      "GatewayRateLimitError",
      { needsPaidCredits: true },
    ],
    [
      403,
      gatewayError("forbidden", freeTierModel),
      "GatewayRateLimitError",
      { needsPaidCredits: true },
    ],
    [
      429,
      { providers: "own body" },
      "GatewayRateLimitError",
      { type: null, needsPaidCredits: false },
    ],
    [529, {}, "RateLimitError", { isRetryable: true }],
    [
      500,
      gatewayError("internal_server_error", "Oh.", { generationId: "gen_9" }),
      "StatusError",
      { generationId: "gen_9", isRetryable: true },
    ],
    [424, gatewayError("failed_dependency", "Oh."), "StatusError", { isRetryable: false }],
    [302, {}, "StatusError", { isRetryable: false }],
  ])("turns %d with %j into %s", async (status, body, name, fields) => {
    expect(await failureOf(gatewayTransport, { status, body })).toMatchObject({
      name,
      status,
      attempts: 1,
      ...fields,
    });
  });

  test("names the option to change if the generation may be wrong", async () => {
    const error = await failureOf(gatewayTransport, { status: 404, body: {} });
    expect(error.message).toContain('set the option wire: "decision-model"');
  });

  test("reads Retry-After, x-should-retry and the request id", async () => {
    const headers = { "Retry-After": "7", "x-should-retry": "false", "x-request-id": "r1" };
    const error = await failureOf(gatewayTransport, { status: 429, body: {}, headers });
    expect(error).toMatchObject({ retryAfterMs: 7000, isRetryable: false, requestId: "r1" });
  });
});

describe("direct", () => {
  test.each<[number, unknown, string, Partial<StatusError>]>([
    [401, { detail: "Invalid API key" }, "AuthenticationError", {}],
    [403, { detail: "Missing API key" }, "AuthenticationError", {}],
    [
      400,
      { detail: { error_type: "unknown_model", message: "No." } },
      "StatusError",
      { type: "unknown_model" },
    ],
    [
      429,
      { detail: "Too many requests" },
      "RateLimitError",
      { isRetryable: true, needsPaidCredits: false },
    ],
    [529, { detail: "Overloaded" }, "RateLimitError", { isRetryable: true }],
    [413, "not an object", "StatusError", { type: null }],
  ])("turns %d with %j into %s", async (status, body, name, fields) => {
    const headers = { "x-typesafe-request-id": "req_1" };
    expect(await failureOf(directTransport, { status, body, headers })).toMatchObject({
      name,
      status,
      requestId: "req_1",
      ...fields,
    });
  });

  test("explains max_tokens_exceeded, which comes without words", async () => {
    const body = { detail: { error_type: "max_tokens_exceeded" } };
    const error = await failureOf(directTransport, { status: 400, body });
    expect(error.message).toMatch(/at most 32k tokens .* Cut the state/);
  });

  test("names the fields of a 422 and not their input", async () => {
    const body = {
      detail: [
        { loc: ["body", "state"], msg: "Input should be valid", type: "x", input: "private" },
      ],
    };
    const error = await failureOf(directTransport, { status: 422, body });
    expect(error.message).toContain("body.state: Input should be valid");
    expect(inspect(error, { depth: 9 })).not.toContain("private");
  });
});

test.each([
  ["gateway", gatewayTransport, gatewayError("x", `${apiKey} and a@example.com`)],
  ["direct", directTransport, { detail: `${apiKey} and a@example.com` }],
] as const)("an error of the %s shows neither key nor state", async (_, transport, body) => {
  const error = await failureOf(transport, { status: 400, body });
  const shown = `${inspect(error, { depth: 9 })}${JSON.stringify(error)}${error.stack}`;
  expect(shown).not.toMatch(/planted|a@example\.com|Your invoice/);
});

test("no error repeats a header that only the call has", async () => {
  const body = gatewayError("invalid_request_error", "No tenant Quagga here.");
  const fetch = async () => Response.json(body, { status: 400 });
  const evaluator = createEvaluator({ transport: gatewayTransport({ apiKey, fetch }) });
  const messageFor = (headers: Record<string, string>) =>
    evaluator.evaluate(emailRequest, { headers }).catch((error: StatusError) => error.message);
  expect(await messageFor({})).toContain("Quagga");
  expect(await messageFor({ "x-tenant": "Quagga" })).not.toContain("Quagga");
});
