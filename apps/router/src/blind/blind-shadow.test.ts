import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import type { Api } from "../apis/api.ts";
import { apis } from "../apis/apis.ts";
import { evaluationUsd } from "../keys/call-price.ts";
import { sqliteLedger } from "../keys/key-database.ts";
import { Ledger } from "../keys/ledger.ts";
import { connectUpstream, type Target } from "../reply/upstream.ts";
import { defaultTierModels, parseRouterOptions } from "../router-options.ts";
import { readNotes } from "../testing/read-notes.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { servicesOver, testRouter } from "../testing/test-router.ts";
import { decisionFor, type Differences, testGateway } from "../testing/upstreams.ts";
import { openBlindShadow } from "./blind-shadow.ts";

const prices = new Map(
  Object.values(defaultTierModels).map((model, at) => {
    const usd = [1, 2, 4, 10][at] ?? 0;
    return [model, { inputUsdPerMillionTokens: usd, outputUsdPerMillionTokens: usd }];
  }),
);

interface World {
  readonly usdPerDay?: number;
  readonly tier?: "nano" | "fast" | "frontier";
  readonly reply?: Differences["reply"];
  readonly random?: () => number;
  /** Replies for the tier in the form of the API, and keeps its calls. */
  readonly own?: Own;
}

interface Own {
  readonly api: Api;
  readonly text: string;
  readonly calls: string[];
}

type Asked = Readonly<Record<"state" | "questions", Record<string, unknown>>>;

/** The dearest tier is right; each reply takes 1,000 tokens. */
function replyOf({ headers }: Request) {
  const isDearest = headers.get("ai-language-model-id") === defaultTierModels.frontier;
  const usage = { inputTokens: { total: 600 }, outputTokens: { total: 400 } };
  return replyStream([isDearest ? "a right reply" : "a reply"], { usage });
}

const usage = { input: 600, cacheRead: 0, cacheWrite: 0, output: 400, reasoning: 0 };

/** Returns a target with a reply in the form of an API, streamed or not. */
function targetOf({ api, text, calls }: Own, price: Target["price"]): Target {
  const fetch: typeof globalThis.fetch = async (_, init) => {
    calls.push(init?.body as string);
    const request = api.read(JSON.parse(init?.body as string));
    const writer = api.write({ requestId: "r", model: "m", createdAt: 1 }, request);
    const events = [
      ...writer.begin(),
      ...writer.add([{ type: "text", key: "0", text }]),
      ...writer.end({ finishReason: "stop", usage }),
    ];
    if (!request.isStreamed) return Response.json(writer.whole());
    const texts = events.map(({ event, data }) => {
      const json = typeof data === "string" ? data : JSON.stringify(data);
      return `${event === undefined ? "" : `event: ${event}\n`}data: ${json}\n\n`;
    });
    return new Response(texts.join(""), { headers: { "content-type": "text/event-stream" } });
  };
  const service = { name: "own", baseUrl: "http://own.invalid/v1", apiKey: null, fetch };
  return { upstream: connectUpstream({ type: api.upstreamType, ...service }), model: "m", price };
}

/** Opens a router whose judge prefers the first place, and an answer with the word "right". */
async function openShadowed({
  usdPerDay = 1,
  tier = "nano",
  random = () => 0,
  ...world
}: World = {}) {
  const { path, log } = await openTestLog();
  const spend = join(await temporaryFolder(), "spend");
  const ledger = new Ledger(() => sqliteLedger(spend), { leaseMs: 60_000 });
  onTestFinished(() => ledger.close());
  const judged: Asked[] = [];
  const evaluation = async (request: Request) => {
    const asked = (await request.json()) as Asked;
    if ("tier" in asked.questions) return Response.json(decisionFor(tier));
    judged.push(asked);
    const answers = Object.keys(asked.questions).map((name, at) => {
      const isRight = String(asked.state[name]).includes("right");
      const probability = (isRight ? 0.8 : 0.4) + (at === 0 ? 0.1 : 0);
      return [name, { type: "boolean", probability }];
    });
    return Response.json(decisionFor(tier, { answers: Object.fromEntries(answers) }));
  };
  const done = Promise.withResolvers<void>();
  const differences: Differences = { evaluation, reply: world.reply ?? replyOf };
  const services = servicesOver(testGateway(differences).fetch);
  const price = prices.get(defaultTierModels[tier]) ?? null;
  const targets = world.own && [targetOf(world.own, price)];
  if (targets) Object.assign(services.replies.current.tiers[tier], { targets });
  const options = { ...parseRouterOptions({}), blind: { share: 0.02, usdPerDay }, instance: "a" };
  const add: typeof log.add = (note) => {
    log.add(note);
    done.resolve();
  };
  const parts = { services, prices, ledger, log: { path, add }, random };
  const blindShadow = openBlindShadow(options, { ...parts, reportDefect: done.reject });
  const router = await testRouter(differences, { log, prices, blindShadow, services });
  const notes = async () => {
    await blindShadow.close();
    await log.written();
    return readNotes(path);
  };
  return { ...router, judged, path, notes, done: done.promise };
}

test("the cheapest and the dearest reply are judged once in each place; the client's is not asked again", async () => {
  const { chat, judged, done, notes, path } = await openShadowed();
  const response = await chat({ message: "Which one?" });
  expect(await response.json()).toMatchObject({ tier: "nano", reply: "a reply" });
  await done;
  const [note] = await notes();
  expect(note).toEqual({
    requestId: response.headers.get("x-request-id"),
    blind: {
      spentUsd: expect.closeTo(0.01 + 2 * evaluationUsd("Which one?a replya right reply"), 9),
      pair: {
        routed: { tier: "nano", quality: expect.closeTo(0.45, 9), costUsd: expect.any(Number) },
        cheapest: { tier: "nano", quality: expect.closeTo(0.45, 9), costUsd: 0.001 },
        dearest: { tier: "frontier", quality: expect.closeTo(0.85, 9), costUsd: 0.01 },
      },
    },
  });
  expect(judged.map(({ state }) => state)).toEqual([
    { question: "Which one?", answer_1: "a reply", answer_2: "a right reply" },
    { question: "Which one?", answer_1: "a right reply", answer_2: "a reply" },
  ]);
  expect(JSON.stringify(judged[0]?.questions)).toContain("Does this answer the question?");
  expect(await readFile(path, "utf8")).not.toMatch(/Which one|a reply|right reply/);
});

test("a reply of a tier between them is judged too", async () => {
  const { chat, judged, done, notes } = await openShadowed({ tier: "fast" });
  await chat({ message: "hi" });
  await done;
  const pair = {
    routed: { tier: "fast", quality: expect.closeTo(0.4333, 3), costUsd: expect.closeTo(0.002, 4) },
    dearest: { tier: "frontier", quality: expect.closeTo(0.8333, 3) },
  };
  expect(await notes()).toMatchObject([{ blind: { pair } }]);
  expect(judged).toHaveLength(3);
});

const ask = (body: object) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], ...body }),
});
const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
const result = { role: "tool", tool_call_id: "1", content: "it" };
const call = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };
const loop = [
  { role: "user", content: "hi" },
  { role: "assistant", content: null, tool_calls: [call] },
  result,
];

test.each([
  ["a named tier", { model: "nano" }],
  ["a call with tools", { model: "auto", tools }],
  ["a step of a tool loop", { model: "auto", messages: loop }],
])("%s is not compared", async (_, body) => {
  const { request, notes } = await openShadowed();
  expect((await request("/v1/chat/completions", ask(body))).status).toBe(200);
  expect(await notes()).toEqual([]);
});

test("auto at /v1 is compared", async () => {
  const { request, done, notes } = await openShadowed();
  await request("/v1/chat/completions", ask({ model: "auto", stream: true }));
  await done;
  expect(await notes()).toMatchObject([{ blind: { pair: { routed: { tier: "nano" } } } }]);
});

const plain = { max_tokens: 400, messages: [{ role: "user", content: "Which?" }], input: "Which?" };

test.each(apis.flatMap((api) => [true, false].map((stream) => ({ api, stream }))))(
  "a reply that passes $api.path unchanged is judged too (stream: $stream)",
  async ({ api, stream }) => {
    const own: Own = { api, text: "a right answer", calls: [] };
    const tier = stream ? "nano" : "fast";
    const { request, done, notes, judged } = await openShadowed({ own, tier });
    const response = await request(api.path, ask({ model: "auto", ...plain, stream }));
    expect(await response.text()).toContain("a right answer");
    await done;
    const [quality, costUsd] = stream ? [0.85, 0.001] : [0.833, 0.002];
    const routed = {
      tier,
      quality: expect.closeTo(quality, 3),
      costUsd: expect.closeTo(costUsd, 5),
    };
    const spentUsd = expect.closeTo(stream ? 0.01 : 0.01105, 4); // it is not paid twice
    expect(await notes()).toMatchObject([{ blind: { spentUsd, pair: { routed } } }]);
    expect(judged[0]?.state).toMatchObject({ question: "Which?", answer_1: "a right answer" });
    expect(own.calls).toHaveLength(1);
  },
);

test.each([
  ["/v1/chat/completions", { n: 2 }],
  ["/v1/responses", { top_logprobs: 2 }],
  ["/v1/responses", { tools: [{ type: "web_search" }] }],
])(
  "a reply that passes %s with %j, which other models do not get, is not compared",
  async (path, body) => {
    const api = apis.find((each) => each.path === path) as Api;
    const own: Own = { api, text: "a right answer", calls: [] };
    const { request, notes } = await openShadowed({ own });
    await request(path, ask({ model: "auto", ...plain, ...body }));
    expect(own.calls).toHaveLength(1);
    expect(await notes()).toEqual([]);
  },
);

test("a reply that passes without a text is not compared", async () => {
  const [api] = apis as [Api];
  const own = { api, text: "", calls: [] };
  const { request, done, notes, judged } = await openShadowed({ own });
  await request(api.path, ask({ model: "auto", ...plain }));
  await done;
  expect(await notes()).toMatchObject([{ blind: { spentUsd: 0, pair: null } }]);
  expect(judged).toEqual([]);
});

test("a message that is not drawn, and one over the budget, cost nothing", async () => {
  for (const world of [{ random: () => 0.02 }, { usdPerDay: 0.02 }]) {
    const { chat, notes, judged } = await openShadowed(world);
    await chat({ message: "hi" });
    expect(await notes()).toEqual([]);
    expect(judged).toEqual([]);
  }
});

test("a tier that fails costs what it took, and gives no pair", async () => {
  const reply = (request: Request) => {
    const isDearest = request.headers.get("ai-language-model-id") === defaultTierModels.frontier;
    return isDearest
      ? Response.json({ error: { message: "no" } }, { status: 400 })
      : replyOf(request);
  };
  const { chat, done, notes } = await openShadowed({ reply });
  expect((await chat({ message: "hi" })).status).toBe(200);
  await done;
  expect(await notes()).toMatchObject([{ blind: { spentUsd: 0, pair: null } }]);
});
