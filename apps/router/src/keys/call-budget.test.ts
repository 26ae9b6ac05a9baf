import { expect, test } from "vitest";
import { defaultTierModels, parseRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { budgetRouter, headers, wholeReply } from "../testing/budget-router.ts";
import { readEvents } from "../testing/read-answers.ts";
import { readConfig } from "../testing/read-config.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { defaultPolicy } from "../testing/test-router.ts";
import { startUpstream } from "../testing/upstreams.ts";
import { toNano } from "./budget-state.ts";
import { evaluationUsd } from "./call-price.ts";
import { sqliteLedger } from "./key-database.ts";
import { Ledger } from "./ledger.ts";

test("a call is reserved while it runs, and settled from its usage with the evaluation", async () => {
  let reserved = 0;
  const reply = async () => {
    reserved = (await router.spent()).reservedNano;
    return wholeReply(20);
  };
  const router = await budgetRouter(1, { reply });
  const response = await router.ask("auto", { max_tokens: 100 });
  expect(response.status).toBe(200);
  expect(reserved).toBeGreaterThan(100 * 2000 * 1000);
  expect(reserved).toBeLessThan(0.25e9);
  const { dayNano, reservedNano, requests } = await router.spent();
  expect({ reservedNano, requests }).toEqual({ reservedNano: 0, requests: 1 });
  expect(dayNano / 1e9).toBeCloseTo((10 * 1000 + 20 * 2000) / 1e6, 4);
  const remaining = Number(response.headers.get("x-router-budget-remaining-usd"));
  expect(remaining).toBe(Math.floor((1e9 - dayNano) / 1e3) / 1e6); // never more than is left
  expect(response.headers.get("x-router-budget-reset")).toMatch(/T00:00:00.000Z$/);
});

test("auto takes the dearest tier that fits, and the cheapest from 80 % of the limit on", async () => {
  const router = await budgetRouter(1, { reply: () => wholeReply(1) });
  const first = await router.ask("auto", { max_tokens: 1000 });
  expect(Object.fromEntries(first.headers)).toMatchObject({
    "x-router-tier": "balanced",
    "x-router-tier-chosen": "frontier",
    "x-router-cause": "budget",
    "x-router-model": defaultTierModels.balanced,
  });
  await router.spend(0.8);
  const second = await router.ask("auto", { max_tokens: 10 });
  expect(second.headers.get("x-router-tier")).toBe("nano");
  expect(second.headers.get("x-router-cause")).toBe("budget");
  const named = await router.ask("balanced", { max_tokens: 10 });
  expect(named.headers.get("x-router-tier")).toBe("balanced");
});

test.each([
  ["/v1/chat/completions", { error: { code: "insufficient_quota" } }],
  ["/v1/responses", { error: { code: "insufficient_quota" } }],
  ["/v1/messages", { error: { type: "rate_limit_error" } }],
  ["/chat", { error: expect.stringContaining("The budget team has no room") }],
  ["/decide", { error: expect.stringContaining("The budget team has no room") }],
])("a spent budget refuses %s before anything is asked", async (path, error) => {
  const router = await budgetRouter(0.5);
  await router.spend(0.5);
  const messages = [{ role: "user", content: "hi" }];
  const body = path.startsWith("/v1")
    ? { model: "auto", messages, input: "hi", max_tokens: 10 }
    : { message: "hi" };
  const { messages: _, ...input } = body as { messages?: unknown };
  const response = await router.post(path, path === "/v1/responses" ? input : body);
  expect(response.status).toBe(429);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(response.headers.get("x-router-budget-remaining-usd")).toBe("0.000000");
  expect(await response.json()).toMatchObject(error);
  expect(router.seen).toEqual([]);
});

test("a hundred calls at once do not spend more than the budget", async () => {
  const router = await budgetRouter(1, { reply: () => wholeReply(100) }, { maxCallsInFlight: 200 });
  const asked = Array.from({ length: 100 }, () => router.ask("balanced", { max_tokens: 100 }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  const { dayNano, reservedNano } = await router.spent();
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(reservedNano).toBe(0);
  expect(dayNano / 1e9).toBeGreaterThan(0.8);
  expect(dayNano / 1e9).toBeLessThanOrEqual(1.02);
});

test("a reply that is rejected costs nothing", async () => {
  const reply = () => Response.json({ error: { message: "no" } }, { status: 400 });
  const router = await budgetRouter(1, { reply });
  expect((await router.ask("frontier", { max_tokens: 10 })).status).toBeGreaterThanOrEqual(400);
  expect(await router.spent()).toMatchObject({ dayNano: 0, reservedNano: 0, requests: 1 });
});

const lost = (code: string) => new TypeError("fetch failed", { cause: { code, message: "lost" } });

/** A router whose first model of a tier loses its connection, and whose fallback replies. */
const budgetRouterAfter = (usdPerDay: number, code: string) => {
  const policy = { ...defaultPolicy, fallbackModels: [defaultTierModels.nano] };
  const reply = ({ headers }: Request) => {
    const isFallback = headers.get("ai-language-model-id") === defaultTierModels.nano;
    return isFallback ? wholeReply(1) : Promise.reject(lost(code));
  };
  return budgetRouter(usdPerDay, { reply }, { policy });
};

/** More input than the fallback's reply costs: at $1,000 a million tokens, $0.1. */
const message = [{ role: "user", content: "word ".repeat(100) }];

test.each([
  ["ECONNRESET", 0.104],
  ["UND_ERR_SOCKET", 0.104],
  ["ECONNREFUSED", 0],
  ["UND_ERR_CONNECT_TIMEOUT", 0],
])("an attempt that ends with %s before another one costs its input: $%d", async (code, usd) => {
  const router = await budgetRouterAfter(1, code);
  const response = await router.ask("frontier", { messages: message, max_tokens: 10 });
  expect(response.headers.get("x-router-cause")).toBe("model-failed");
  expect((await router.spent()).dayNano / 1e9).toBeCloseTo(usd, 3);
});

test("an attempt that may be billed leaves no room for another one", async () => {
  const router = await budgetRouterAfter(0.7, "ECONNRESET");
  const response = await router.ask("frontier", { messages: message, max_tokens: 10 });
  expect(response.status).toBe(502);
  expect(router.seen.filter(({ path }) => path.endsWith("/language-model"))).toHaveLength(1);
});

test("a decision whose connection is lost costs its estimate, also if a tier replies without it", async () => {
  const evaluation = () => Promise.reject(lost("ECONNRESET"));
  const expected = toNano(evaluationUsd("hi"));
  const undecided = await budgetRouter(1, { evaluation });
  expect((await undecided.post("/decide", { message: "hi" })).status).toBe(502);
  expect((await undecided.spent()).dayNano).toBe(expected);
  const policy = { ...defaultPolicy, failureTier: "nano" as const };
  const decided = await budgetRouter(1, { evaluation }, { policy });
  expect((await decided.post("/decide", { message: "hi" })).status).toBe(200);
  expect((await decided.spent()).dayNano).toBe(expected);
});

test("a reply that breaks off is charged with what was received", async () => {
  const reply = () => replyStream(["a".repeat(4000)], { isCut: true });
  const router = await budgetRouter(1, { reply });
  const response = await router.ask("balanced", { max_tokens: 2000, stream: true });
  await response.text();
  const { dayNano, reservedNano } = await router.spent();
  expect(reservedNano).toBe(0);
  expect(dayNano).toBeGreaterThan(1024 * 200 * 1000);
  expect(dayNano).toBeLessThan(1080 * 200 * 1000);
});

test("a passed reply that breaks off costs its events, also if its start reports one token", async () => {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const start = { type: "message_start", message: { usage } };
  const delta = { type: "content_block_delta", delta: { type: "text_delta", text: "word" } };
  const origin = await startUpstream((_, response) => {
    response.setHeader("content-type", "text/event-stream");
    const events = [start, ...Array.from({ length: 500 }, () => delta)];
    const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
    response.write(lines.join(""), () => response.destroy());
  });
  const tier = { upstream: "claude", model: "m", price: { input: 1000, output: 2000 } };
  const config = await readConfig({
    upstreams: { claude: { type: "anthropic", baseUrl: `${origin}/v1` } },
    tiers: { nano: tier, fast: tier, balanced: tier, frontier: tier },
  });
  const services = connectServices(parseRouterOptions({}, config));
  const router = await budgetRouter(10, {}, { services });
  const messages = [{ role: "user", content: "hi" }];
  const body = { model: "nano", max_tokens: 1000, stream: true, messages };
  await (await router.post("/v1/messages", body)).text();
  const { dayNano, reservedNano } = await router.spent();
  expect({ dayNano, reservedNano }).toEqual({
    dayNano: (10 * 1000 + 501 * 2000) * 1000,
    reservedNano: 0,
  });
});

test("a client that goes away is charged with what was received", async () => {
  const client = new AbortController();
  const reply = () => replyStream(["a".repeat(4000), "b", "c"]);
  const router = await budgetRouter(1, { reply });
  const body = JSON.stringify({ message: "hi" });
  const own = { ...headers, accept: "text/event-stream" };
  const init = { method: "POST", body, headers: own, signal: client.signal };
  const response = await router.request("/chat", init);
  await readEvents(response);
  client.abort();
  expect((await router.spent()).reservedNano).toBe(0);
});

test("a model without a price needs one if its key has a budget", async () => {
  const router = await budgetRouter(1, {}, { prices: new Map() });
  const response = await router.ask("acme/x");
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("no price for acme/x: set one in router.config.json");
  const free = await budgetRouter(null, {}, { prices: new Map() });
  expect((await free.ask("acme/x")).headers.get("x-router-budget-remaining-usd")).toBeNull();
});

test("a ledger that cannot be written refuses calls with a budget, and no others", async () => {
  const ledger = new Ledger(() => sqliteLedger("/dev/null/spend.sqlite"), { leaseMs: 60_000 });
  const router = await budgetRouter(1, {}, { ledger });
  expect((await router.ask("nano")).status).toBe(503);
  const free = await budgetRouter(null, {}, { ledger });
  expect((await free.ask("nano")).status).toBe(200);
});

test("/decide costs its evaluation, near the limit it is the cheapest tier, and a shadow's decision is charged with the reply", async () => {
  const router = await budgetRouter(1);
  const response = await router.post("/decide", { message: "hi" });
  expect(response.headers.get("x-router-tier")).toBe("frontier");
  expect((await router.spent()).dayNano).toBeGreaterThan(0);
  await router.spend(0.8);
  const near = await router.post("/decide", { message: "hi" });
  expect(near.headers.get("x-router-tier")).toBe("nano");
  expect(near.headers.get("x-router-cause")).toBe("budget");
  expect(await near.json()).toMatchObject({ tierChosen: "frontier", cause: "budget" });
  const shadow = { ...defaultPolicy, shadowModel: defaultTierModels.nano };
  const shadowed = await budgetRouter(1, { reply: () => wholeReply(1) }, { policy: shadow });
  expect((await shadowed.ask("auto")).headers.get("x-router-cause")).toBe("shadow");
  await expect.poll(async () => (await shadowed.spent()).reservedNano).toBe(0);
  expect((await shadowed.spent()).dayNano).toBeGreaterThan(12_000);
});
