import { expect, test } from "vitest";
import { defaultTierModels } from "./router-options.ts";
import { testRouter } from "./testing/test-router.ts";

test("the router is ready until it stops, and alive either way", async () => {
  const stopping = await testRouter({}, { isStopping: () => true });
  const running = await testRouter();
  expect((await running.request("/readyz")).status).toBe(200);
  expect((await stopping.request("/readyz")).status).toBe(503);
  expect((await stopping.request("/healthz")).status).toBe(200);
});

test("the metrics count messages, costs, times and responses, each router its own", async () => {
  const price = { inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: 2 };
  const prices = new Map(Object.values(defaultTierModels).map((model) => [model, price]));
  const { request, chat } = await testRouter({}, { prices });
  await testRouter().then((other) => other.chat({ message: "hi" }));
  await chat({ message: "hi" });
  await request("/a-persons-text");
  const response = await request("/metrics");
  const text = await response.text();
  expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  expect(text).toContain(
    'router_messages_total{endpoint="chat",outcome="replied",tier="nano",cause="choice"} 1\n',
  );
  expect(text).toContain(
    'router_http_responses_total{method="POST",route="/chat",status="200"} 1\n',
  );
  expect(text).toMatch(/router_cost_usd_total\{part="frontier"\} \d/);
  expect(text).toContain('router_call_seconds_count{part="reply"} 1\n');
  expect(text).toContain("router_calls_in_flight 0\n");
  expect(text).not.toContain("persons");
});

test("the time of decisions has no sample of a message that asked for none", async () => {
  const { request, chat } = await testRouter();
  await chat({ message: "hi" });
  const messages = [{ role: "user", content: "hi" }];
  const named = { method: "POST", body: JSON.stringify({ model: "nano", messages }) };
  const headers = { "content-type": "application/json" };
  await request("/v1/chat/completions", { ...named, headers });
  const text = await (await request("/metrics")).text();
  expect(text).toContain('router_call_seconds_count{part="decision"} 1\n');
  expect(text).toContain('router_call_seconds_count{part="reply"} 2\n');
});

test("the access log has a line for each response, and no text of a person", async () => {
  const lines: string[] = [];
  const { request, chat } = await testRouter(
    {},
    { accessLog: { write: (line) => lines.push(line) } },
  );
  const headers = { "content-type": "application/json", "x-request-id": "my-own-id" };
  await chat({ message: "a secret plan" }, { headers });
  await request("/a/secret?plan");
  await request("/", { headers: { host: "secret.example" } });
  expect(lines).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z POST \/chat 200 \d+ms my-own-id\n$/),
    expect.stringMatching(/ GET \/\* 404 \d+ms [0-9a-f-]{36}\n$/),
    expect.stringMatching(/ GET \S+ 403 \d+ms [0-9a-f-]{36}\n$/),
  ]);
  expect(lines.join("")).not.toContain("secret");
});

test("every answer carries a request id", async () => {
  const { request } = await testRouter();
  expect((await request("/")).headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  const headers = { "x-request-id": "abc-123", host: "evil.example" };
  expect((await request("/", { headers })).headers.get("x-request-id")).toBe("abc-123");
});
