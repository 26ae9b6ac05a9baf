import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { tierNames } from "../decision/tier-question.ts";
import { defaultTierModels, parseRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { budgetRouter, headers, wholeReply } from "../testing/budget-router.ts";
import { chatEvents } from "../testing/provider-events.ts";
import { readConfig } from "../testing/read-config.ts";
import { startUpstream } from "../testing/upstreams.ts";

/** A router whose tiers reply from a server with OpenAI's chat API; the server's requests are kept. */
async function passingRouter(usdPerDay: number) {
  const bodies: string[] = [];
  const origin = await startUpstream(async (request, response) => {
    bodies.push(await text(request));
    response.setHeader("content-type", "text/event-stream");
    for (const event of chatEvents) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  const tier = { upstream: "local", model: "m", price: { input: 1000, output: 2000 } };
  const config = await readConfig({
    upstreams: { local: { type: "openai-chat", baseUrl: `${origin}/v1` } },
    tiers: { nano: tier, fast: tier, balanced: tier, frontier: tier },
  });
  const services = connectServices(parseRouterOptions({}, config));
  return { bodies, ...(await budgetRouter(usdPerDay, {}, { services })) };
}

test("a body with max_tokens passes unchanged and is charged with its usage", async () => {
  const { bodies, request, spent } = await passingRouter(10);
  const bodyFor = (model: string, options: string) =>
    ` {${options}"model": "${model}", "max_tokens":500, "stream":true, "temperature": 1.0,
      "messages": [ {"role":"user","content":"\\u0068i"} ], "logit_bias": {}, "n":2, "n":1}`;
  const init = { method: "POST", body: bodyFor("frontier", ""), headers };
  await (await request("/v1/chat/completions", init)).text();
  expect(bodies).toEqual([bodyFor("m", '"stream_options":{"include_usage":true},')]);
  expect((await spent()).dayNano).toBe((30 * 1000 + 9 * 2000) * 1000);
});

test("a body without max_tokens is read instead, and its lost fields are listed", async () => {
  const { ask, spent } = await passingRouter(10);
  const response = await ask("frontier", { stream: true, service_tier: "flex" });
  expect(response.headers.get("x-router-ignored")).toBe("service_tier");
  await response.text();
  expect(await spent()).toMatchObject({ dayNano: 48e6, reservedNano: 0 });
});

test("a field that multiplies replies is refused before anything is asked", async () => {
  const { bodies, ask, spent } = await passingRouter(10);
  expect((await ask("frontier", { n: 2, max_tokens: 5 })).status).toBe(400);
  expect(bodies).toEqual([]);
  expect(await spent()).toMatchObject({ dayNano: 0, requests: 0 });
});

test("a client's own model name is capped like auto, also in a later step of a turn", async () => {
  const router = await budgetRouter(1, { reply: () => wholeReply(1) });
  const first = await router.ask("gpt-4o", { max_tokens: 10 });
  expect(first.headers.get("x-router-tier")).toBe("frontier");
  await router.spend(0.85);
  const second = await router.ask("gpt-4o", { max_tokens: 10 });
  expect(second.headers.get("x-router-tier")).toBe("nano");
  expect(second.headers.get("x-router-cause")).toBe("budget");
});

test("tiers are capped by their prices, in whichever order they have them", async () => {
  const price = (usd: number) => ({
    inputUsdPerMillionTokens: usd,
    outputUsdPerMillionTokens: usd,
  });
  const usd = { nano: 1000, fast: 1, balanced: 10, frontier: 100 };
  const prices = new Map(tierNames.map((tier) => [defaultTierModels[tier], price(usd[tier])]));
  const router = await budgetRouter(1, { reply: () => wholeReply(1) }, { prices });
  const tierFor = async (maxTokens: number) =>
    (await router.ask("auto", { max_tokens: maxTokens })).headers.get("x-router-tier");
  expect(await tierFor(5000)).toBe("frontier"); // nano has no room
  expect(await tierFor(50_000)).toBe("balanced");
  await router.spend(0.85);
  expect(await tierFor(10)).toBe("fast");
  expect(await tierFor(100_000)).toBe("fast");
  expect(await tierFor(1_000_000)).toBeNull();
});

test.each([
  [100, undefined],
  [3000, { type: "enabled", budget_tokens: 1500 }],
])("a limit of %d tokens holds with the thinking of a provider", async (limit, thinking) => {
  const bodies: unknown[] = [];
  const origin = await startUpstream(async (request, response) => {
    bodies.push(JSON.parse(await text(request)));
    response.writeHead(400).end();
  });
  const tier = { upstream: "claude", model: "claude-haiku-4-5", price: { input: 1, output: 5 } };
  const config = await readConfig({
    upstreams: { claude: { type: "anthropic", baseUrl: `${origin}/v1` } },
    tiers: { nano: tier, fast: tier, balanced: tier, frontier: tier },
  });
  const services = connectServices(parseRouterOptions({}, config));
  const { ask } = await budgetRouter(1, {}, { services });
  await ask("nano", { max_tokens: limit, reasoning_effort: "high" }); // the provider's is 38,400 tokens
  expect(bodies).toEqual([expect.objectContaining({ max_tokens: limit })]);
  expect((bodies[0] as { thinking?: object }).thinking).toEqual(thinking);
});

test("a key with a budget passes only fields that change neither model nor price", async () => {
  const { bodies, ask } = await passingRouter(10);
  const tools = [{ type: "function", function: { name: "f" } }];
  const more = {
    service_tier: "auto",
    models: ["dear"],
    fallbacks: ["dear"],
    plugins: [{}],
    tools,
  };
  const response = await ask("frontier", { max_tokens: 5, stream: true, ...more });
  await response.text();
  expect(response.headers.get("x-router-ignored")?.split(", ").toSorted()).toEqual([
    "fallbacks",
    "models",
    "plugins",
    "service_tier",
  ]);
  expect(Object.keys(JSON.parse(bodies[0] ?? "") as object).toSorted()).toEqual([
    "max_tokens",
    "messages",
    "model",
    "stream",
    "stream_options",
    "tools",
  ]);
});

test("a field that makes tokens dearer is refused for a key with a budget", async () => {
  const { bodies, ask } = await passingRouter(10);
  for (const more of [{ service_tier: "priority" }, { speed: "fast" }]) {
    const response = await ask("frontier", { max_tokens: 5, ...more });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(Object.keys(more)[0]);
  }
  expect(bodies).toEqual([]);
});
