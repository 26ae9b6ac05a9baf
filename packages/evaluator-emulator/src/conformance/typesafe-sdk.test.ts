import {
  APIConnectionError,
  APITimeoutError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  choice,
  InternalServerError,
  NotFoundError,
  noul,
  PermissionDeniedError,
  RateLimitError,
  score,
  TypeSafeClient,
  UnprocessableEntityError,
} from "@typesafe-ai/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";
import { post } from "../testing/requests.ts";

// The vendor's own client, unpatched, over HTTP.
const emulator = createEmulator({ exchanges: [], keys: ["right-key"] });
let baseURL: string;
const clientWith = (apiKey: string) => new TypeSafeClient({ apiKey, baseURL, logLevel: "off" });

beforeAll(async () => {
  ({ directBaseUrl: baseURL } = await emulator.listen());
});
beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

test("every question type is answered in the vendor's shape", async () => {
  const { data, requestId } = await clientWith("right-key")
    .systemOne({
      state: { message: "You have won the lottery, click here to claim your prize" },
      questions: {
        scam: noul("Is it a scam?"),
        kind: choice("Which kind?", { prize: "a lottery", lunch: null }),
        danger: score({ ask: "How bad?" }, ["fine", "fraud"]),
      },
    })
    .withResponse();
  expect(requestId).toMatch(/^req_/);
  expect(data.model).toBe("local/lexical-1");
  expect(data.answers.scam.noul).toBe(0.8);
  expect(data.answers.kind.choice).toBe("prize");
  expect(data.answers.kind.confidence).toBeGreaterThan(0);
  expect(data.answers.danger.legend).toEqual({ "0": "fine", "1": "fraud" });
  expect(data.answers.danger.score).toBeGreaterThan(0.5);
  expect(data.usage.input_tokens).toBeGreaterThan(0);
});

test("lists the models", async () => {
  const models = await clientWith("right-key").models.list();
  expect(models.map(({ name }) => name)).toContain("jev-latest");
});

const scam = noul("Is it a scam?");
test.each([
  ["a wrong key", "wrong-key", { state: "x", questions: { scam } }, AuthenticationError],
  ["a null state", "right-key", { state: null, questions: { scam } }, UnprocessableEntityError],
  ["an unknown field", "right-key", { state: "x", questions: { scam }, top: 1 }, BadRequestError],
  [
    "too long a state",
    "right-key",
    { state: "x".repeat(2e5), questions: { scam } },
    BadRequestError,
  ],
  ["an unknown model", "right-key", { state: "x", questions: { scam }, model: "m" }, NotFoundError],
])("%s is the client's own error", async (_what, key, request, errorClass) => {
  const error: unknown = await clientWith(key)
    .systemOne(request)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(errorClass);
  expect(error).toHaveProperty("requestId", expect.stringMatching(/^req_/));
});

const fault = (body: object) => post(emulator, "/_emulator/faults", { body });
const ask = (options = {}) =>
  clientWith("right-key").systemOne({ state: "x", questions: { scam } }, options);
const failureOf = (promise: Promise<unknown>) => promise.catch((reason: unknown) => reason);
const noRetries = { retry: { maxRetries: 0 } };

test.each([
  [{ kind: "status", status: 403 }, PermissionDeniedError],
  [{ kind: "status", status: 429 }, RateLimitError],
  [{ kind: "status", status: 500 }, InternalServerError],
  [{ kind: "status", status: 529 }, InternalServerError],
  [{ kind: "html" }, InternalServerError],
  [{ kind: "reset" }, APIConnectionError],
  [{ kind: "cut-body" }, APIConnectionError],
])("%j is the client's own error", async (body, errorClass) => {
  await fault(body);
  expect(await failureOf(ask(noRetries))).toBeInstanceOf(errorClass);
});

test("a missing key is a permission error at the vendor", async () => {
  const response = await emulator.fetch("/direct/v1/models");
  expect(response.status).toBe(403);
});

test("Retry-After is read from a rate limit", async () => {
  await fault({ kind: "status", status: 429, retryAfter: 2 });
  expect(await failureOf(ask(noRetries))).toHaveProperty("retryAfterMs", 2000);
});

test("one 429 or one reset and then an answer is a success", async () => {
  await fault({ kind: "status", status: 429, retryAfter: 0, next: 1 });
  expect((await ask()).answers.scam.type).toBe("noul");
  await fault({ kind: "reset", next: 1 });
  expect((await ask({ retry: { backoffInitialMs: 1 } })).answers.scam.type).toBe("noul");
});

test("a hanging call ends in the client's time limit, or when its caller aborts", async () => {
  await fault({ kind: "hang" });
  expect(await failureOf(ask({ ...noRetries, timeout: 20 }))).toBeInstanceOf(APITimeoutError);
  const aborted = ask({ ...noRetries, signal: AbortSignal.abort() });
  expect(await failureOf(aborted)).toBeInstanceOf(APIUserAbortError);
});
