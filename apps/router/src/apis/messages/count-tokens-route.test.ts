import { expect, test } from "vitest";
import { apiForms, post } from "../../testing/api-forms.ts";
import { testRouter } from "../../testing/test-router.ts";
import { hangingUpstream } from "../../testing/upstreams.ts";

const path = "/v1/messages/count_tokens";
const [, , messages] = apiForms;

async function countOf(request: Awaited<ReturnType<typeof testRouter>>["request"], body: object) {
  const response = await request(path, post(body));
  expect(response.status).toBe(200);
  return ((await response.json()) as { input_tokens: number }).input_tokens;
}

test("tokens are counted with tools and system, without a model and max_tokens", async () => {
  const { request, seen } = await testRouter();
  const { max_tokens: _, tools, ...body } = messages.ask(["Fix the bug of the cart."]);
  const bare = await countOf(request, body);
  const withTools = await countOf(request, { ...body, tools });
  const system = [{ type: "text", text: "You are a careful engineer.".repeat(100) }];
  const whole = await countOf(request, { ...body, tools, system });
  expect(bare).toBeGreaterThan(0);
  expect(withTools).toBeGreaterThan(bare);
  expect(whole).toBeGreaterThan(withTools + 500);
  expect(seen).toEqual([]);
});

test("tokens are counted while as many calls as allowed are in flight", async () => {
  const { answer, reached } = hangingUpstream();
  const { request, seen } = await testRouter({ reply: answer }, { maxCallsInFlight: 1 });
  const client = new AbortController();
  const body = messages.ask(["hi"], { model: "claude-opus-4-1" });
  const call = request(messages.path, { ...post(body), signal: client.signal });
  await reached;
  expect((await request(messages.path, post(body))).status).toBe(503);
  const counts = Array.from({ length: 50 }, () => countOf(request, body));
  expect(new Set(await Promise.all(counts)).size).toBe(1);
  expect(seen).toHaveLength(2);
  client.abort();
  await call;
});

test.each([
  ["", "not JSON"],
  ["[]", "model"],
  ['{"model":"auto","messages":[]}', "messages"],
  ['{"model":"auto","messages":[{"role":"user","content":[{"type":5}]}]}', "messages.0.content.0"],
  [`{"model":"auto","messages":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, "messages"],
])("a wrong body (row %$) is refused in the form of the API", async (body, problem) => {
  const { request } = await testRouter();
  const response = await request(path, { ...post({}), body });
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    type: "error",
    error: { type: "invalid_request_error", message: expect.stringContaining(problem) },
  });
});
