import { afterAll, beforeEach, expect, test } from "vitest";
import { ask, type ClientName, emulator, fault } from "./decision-clients.ts";

beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

const failureOf = async (name: ClientName, key = "right-key") => {
  const failure: unknown = await ask[name](key).then(
    () => null,
    (error: unknown) => error,
  );
  return failure as { constructor: { name: string } } | null;
};

test.each([
  ["@typesafe-ai/sdk", "AuthenticationError"],
  ["openai", "AuthenticationError"],
  ["@google/genai", "BadRequestError"],
  ["@openrouter/sdk, decisions", "UnauthorizedResponseError"],
  ["@openrouter/sdk, systemOne", "UnauthorizedResponseError"],
  ["@ai-sdk/gateway, evaluation", "GatewayAuthenticationError"],
  ["@ai-sdk/gateway, decision", "GatewayAuthenticationError"],
] as const)("%s shows a wrong key as %s", async (name, errorName) => {
  expect((await failureOf(name, "wrong-key"))?.constructor.name).toBe(errorName);
});

test("OpenRouter without credit is an error that says so", async () => {
  const failure = await failureOf("@openrouter/sdk, decisions", "empty-key");
  expect(failure?.constructor.name).toBe("PaymentRequiredResponseError");
});

test.each([
  ["@typesafe-ai/sdk", 400, "BadRequestError"],
  ["@typesafe-ai/sdk", 403, "PermissionDeniedError"],
  ["@typesafe-ai/sdk", 404, "NotFoundError"],
  ["@typesafe-ai/sdk", 422, "UnprocessableEntityError"],
  ["@typesafe-ai/sdk", 429, "RateLimitError"],
  ["@typesafe-ai/sdk", 529, "InternalServerError"],
  ["openai", 400, "BadRequestError"],
  ["openai", 403, "PermissionDeniedError"],
  ["openai", 404, "NotFoundError"],
  ["openai", 409, "ConflictError"],
  ["openai", 422, "UnprocessableEntityError"],
  ["openai", 429, "RateLimitError"],
  ["openai", 500, "InternalServerError"],
  ["@google/genai", 400, "BadRequestError"],
  ["@google/genai", 401, "AuthenticationError"],
  ["@google/genai", 403, "PermissionDeniedError"],
  ["@google/genai", 404, "NotFoundError"],
  ["@google/genai", 409, "ConflictError"],
  ["@google/genai", 422, "UnprocessableEntityError"],
  ["@google/genai", 429, "RateLimitError"],
  ["@google/genai", 504, "InternalServerError"],
  ["@openrouter/sdk, decisions", 400, "BadRequestResponseError"],
  ["@openrouter/sdk, decisions", 403, "ForbiddenResponseError"],
  ["@openrouter/sdk, decisions", 404, "NotFoundResponseError"],
  ["@openrouter/sdk, decisions", 413, "PayloadTooLargeResponseError"],
  ["@openrouter/sdk, decisions", 422, "OpenRouterDefaultError"],
  ["@openrouter/sdk, decisions", 429, "TooManyRequestsResponseError"],
  ["@openrouter/sdk, decisions", 500, "InternalServerResponseError"],
  ["@openrouter/sdk, decisions", 502, "BadGatewayResponseError"],
  ["@openrouter/sdk, decisions", 503, "ServiceUnavailableResponseError"],
  ["@openrouter/sdk, decisions", 524, "EdgeNetworkTimeoutResponseError"],
  ["@openrouter/sdk, decisions", 529, "ProviderOverloadedResponseError"],
  ["@ai-sdk/gateway, decision", 400, "GatewayInvalidRequestError"],
  ["@ai-sdk/gateway, decision", 403, "GatewayForbiddenError"],
  ["@ai-sdk/gateway, decision", 424, "GatewayFailedDependencyError"],
  ["@ai-sdk/gateway, decision", 429, "GatewayRateLimitError"],
  ["@ai-sdk/gateway, decision", 500, "GatewayInternalServerError"],
] as const)("%s shows %d as %s", async (name, status, errorName) => {
  await fault({ kind: "status", status });
  expect((await failureOf(name))?.constructor.name).toBe(errorName);
});

test.each(Object.keys(ask) as ClientName[])("%s notices a reset and a cut body", async (name) => {
  for (const kind of ["reset", "cut-body"]) {
    await fault({ kind, next: 1 });
    expect(await failureOf(name)).toBeInstanceOf(Error);
  }
});

test("OpenAI's client reads the message, the code and the request's id of an error", async () => {
  await fault({ kind: "exhausted-quota" });
  expect(await failureOf("openai")).toMatchObject({
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "429 The emulator was asked for this error.",
  });
  emulator.reset();
  const failure = await failureOf("openai", "wrong-key");
  expect(failure).toMatchObject({ requestID: expect.stringMatching(/^\w{26}$/) });
});
