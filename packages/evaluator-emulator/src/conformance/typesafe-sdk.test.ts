import {
  AuthenticationError,
  BadRequestError,
  choice,
  NotFoundError,
  noul,
  score,
  TypeSafeClient,
  UnprocessableEntityError,
} from "@typesafe-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";

// The vendor's own client, unpatched, over HTTP.
const emulator = createEmulator({ exchanges: [], keys: ["right-key"] });
let baseURL: string;
const clientWith = (apiKey: string) => new TypeSafeClient({ apiKey, baseURL, logLevel: "off" });

beforeAll(async () => {
  ({ directBaseUrl: baseURL } = await emulator.listen());
});
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
