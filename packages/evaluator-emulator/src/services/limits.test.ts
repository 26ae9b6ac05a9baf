import { expect, test } from "vitest";
import { post } from "../testing/requests.ts";
import {
  ask,
  emulatorWith,
  geminiKey,
  instructions,
  kind,
  level,
  list,
  names,
  scam,
  services,
  state,
} from "../testing/service-requests.ts";

const wrongKey = "Incorrect API key provided.";
test.each([
  [
    "openai",
    401,
    { error: { message: wrongKey, type: "invalid_request_error", code: "invalid_api_key" } },
  ],
  [
    "gemini",
    400,
    { error: { status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } },
  ],
  ["openrouter", 401, { error: { code: 401, message: wrongKey } }],
  ["perplexity", 401, { error: { code: 401, message: wrongKey } }],
  ["cloudflare", 401, { success: false, errors: [{ code: 10_000, message: wrongKey }] }],
  ["fireworks", 401, { error: { message: wrongKey } }],
] as const)("%s answers a wrong key with %d in its own body", async (name, status, json) => {
  expect(await ask(name, { keys: ["right"] })).toMatchObject({ status, json });
});

test("Google's key is in its own header", async () => {
  const { path, body } = services.gemini;
  const emulator = emulatorWith({ keys: ["a-key"] });
  expect((await post(emulator, path, { headers: geminiKey, body })).status).toBe(200);
  const log: unknown = await (await emulator.fetch("/_emulator/requests")).json();
  expect(log).toMatchObject({ requests: [{ path, account: 1, status: 200 }] });
});

test.each(names)("%s answers an unknown model with 404, and a GET with 405", async (name) => {
  const { path, body, ...rest } = services[name];
  const unknown = { path: path.replace("clef-flash", "gpt"), body: { ...body, model: "" } };
  const { status } = await post(emulatorWith(), unknown.path, { ...rest, body: unknown.body });
  expect(status).toBe(404);
  expect((await emulatorWith().fetch(path, rest)).status).toBe(405);
});

const many = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, value]));
const manyOf = (count: number, value: object) => Array.from({ length: count }, () => value);

test.each([
  ["openai", { questions: manyOf(401, { type: "predicate", instructions }) }],
  ["openai", { questions: [{ ...list[1], choices: [{ value: "a" }] }] }],
  ["openai", { questions: [{ ...list[1], choices: [{ value: "a" }, { value: "a" }] }] }],
  ["openai", { questions: [{ ...list[2], levels: manyOf(11, { label: "a" }) }] }],
  ["openai", { state }],
  ["openai", { temperature: 0 }],
  ["gemini", { questions: {} }],
  ["gemini", { questions: many(1001, scam) }],
  ["gemini", { questions: { kind: { ...kind, criteria: { a: "x" } } } }],
  ["gemini", { questions: { kind: { ...kind, criteria: { a: "", b: "x" } } } }],
  ["gemini", { questions: { kind: { ...kind, criteria: { " a": "x", b: "x" } } } }],
  ["gemini", { questions: { scam: { type: "noul" } } }],
  ["openrouter", { questions: { scam: { type: "noul", criteria: { true: "a", false: "b" } } } }],
  ["openrouter", { questions: { scam: { ...scam, criteria: { true: "a" } } } }],
  ["perplexity", { questions: many(129, scam) }],
  ["perplexity", { user: "x" }],
  ["cloudflare", { questions: many(65, scam) }],
  ["cloudflare", { questions: { "a b": scam } }],
  ["cloudflare", { questions: { level: { ...level, criteria: ["one"] } } }],
  ["cloudflare", { model: "clef" }],
  ["fireworks", { questions: { kind: { ...kind, criteria: many(209, "x") } } }],
] as const)("%s refuses %j", async (name, fields) => {
  expect((await ask(name, {}, fields)).status).toBe(400);
});
