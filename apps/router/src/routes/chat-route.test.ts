import { expect, test } from "vitest";
import { tierQuestions } from "../decision/tier-question.ts";
import type { ChatResponse } from "../decision/decision.ts";
import { nineFields } from "../testing/read-answers.ts";
import { testRouter } from "../testing/test-router.ts";
import { decisionFor } from "../testing/upstreams.ts";

test("answers a greeting with the nine fields of the contract, in its order", async () => {
  const { chat } = await testRouter();
  const response = await chat({ message: "hi" });
  const body = (await response.json()) as ChatResponse;
  expect(response.status).toBe(200);
  expect(Object.keys(body)).toEqual(nineFields);
  expect(body).toMatchObject({
    tier: "nano",
    model: "openai/gpt-5-nano",
    probabilities: { nano: 0.97, fast: 0.02, balanced: 0, frontier: 0 },
    confidence: 0.96,
    reply: expect.stringContaining("local emulator"),
    replyError: null,
    usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
  });
  expect([body.jevMs, body.replyMs].every(Number.isInteger)).toBe(true);
});

test("sends the message alone: one state key, one question, one prompt, nothing else", async () => {
  const { chat, seen } = await testRouter();
  await chat({ message: "hi", system: "be rude" });
  await chat({ message: "and now?" });
  expect(seen.map(({ body }) => body)).toEqual([
    { state: { user_message: "hi" }, questions: tierQuestions },
    expect.objectContaining({
      prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
    }),
    { state: { user_message: "and now?" }, questions: tierQuestions },
    expect.objectContaining({
      prompt: [{ role: "user", content: [{ type: "text", text: "and now?" }] }],
    }),
  ]);
});

test("cuts the message for both models", async () => {
  const { chat, seen } = await testRouter();
  await chat({ message: `${"a".repeat(19_999)}😀😀` });
  const text = `${"a".repeat(19_999)}😀`;
  expect(seen[0]?.body).toMatchObject({ state: { user_message: text } });
  expect(seen[1]?.body).toMatchObject({ prompt: [{ content: [{ text }] }] });
});

test("keeps the decision when the reply fails", async () => {
  const error = { message: "Free tier users do not have access to this model.", type: "forbidden" };
  const { chat } = await testRouter({ reply: () => Response.json({ error }, { status: 403 }) });
  const response = await chat({ message: "hi" });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    tier: "nano",
    model: "openai/gpt-5-nano",
    probabilities: { nano: 0.97 },
    confidence: 0.96,
    reply: "",
    replyError: "Free tier users do not have access to this model.",
    usage: null,
  });
});

test("says null where the service gives no confidence", async () => {
  const { chat } = await testRouter({
    evaluation: () => Response.json(decisionFor("fast")),
  });
  expect(await (await chat({ message: "hi" })).json()).toMatchObject({
    tier: "fast",
    confidence: null,
  });
});

const wrongBodies: [what: string, body: string][] = [
  ["malformed JSON", '{"message":'],
  ["an empty body", ""],
  ["no message", "{}"],
  ["an empty message", '{"message":""}'],
  ["a blank message", '{"message":" \\n"}'],
  ["a message that is not text", '{"message":["hi"]}'],
  ["JSON that is not an object", '"hi"'],
  ["null", "null"],
];

test.each(wrongBodies)("rejects %s with 400, and asks no model", async (_what, body) => {
  const { chat, seen } = await testRouter();
  const response = await chat(null, { body });
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ error: expect.any(String) });
  expect(seen).toEqual([]);
});

test.each([
  undefined,
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/jsonp",
  "text/plain; application/json",
])("rejects the content type %s with 415", async (contentType) => {
  const { chat } = await testRouter();
  const headers: Record<string, string> =
    contentType === undefined ? {} : { "content-type": contentType };
  const body = new TextEncoder().encode('{"message":"hi"}'); // bytes add no content type
  expect((await chat(null, { body, headers })).status).toBe(415);
});

test("takes JSON with parameters and capitals in its content type", async () => {
  const { chat } = await testRouter();
  const headers = { "content-type": "Application/JSON; charset=utf-8" };
  expect((await chat({ message: "hi" }, { headers })).status).toBe(200);
});

test("rejects a body over 1 MiB with 413, whether or not it says its length", async () => {
  const { chat, seen } = await testRouter();
  const bytes = new TextEncoder().encode(JSON.stringify({ message: "a".repeat(1024 * 1024) }));
  const headers = { "content-type": "application/json" };
  const said = { ...headers, "content-length": String(bytes.length) };
  const chunked = new Blob([bytes]).stream();
  const answers = [
    await chat(null, { body: bytes, headers: said }),
    await chat(null, { body: chunked, headers, duplex: "half" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([413, 413]);
  expect(await answers[1]?.json()).toEqual({ error: "The body is over 1048576 bytes; send less." });
  expect(seen).toEqual([]);
});

test.each([
  ["GET", "/chat", 405, "POST"],
  ["OPTIONS", "/chat", 405, "POST"],
  ["POST", "/", 405, "GET, HEAD"],
  ["GET", "/chat/", 404, null],
  ["GET", "/src/main.ts", 404, null],
])("answers %s %s with %i and JSON", async (method, path, status, allow) => {
  const { request } = await testRouter();
  const response = await request(path, { method });
  expect(response.status).toBe(status);
  expect(response.headers.get("allow")).toBe(allow);
  expect(await response.json()).toEqual({ error: expect.any(String) });
});
