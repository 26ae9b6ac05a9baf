import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import { parseRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { budgetRouter } from "../testing/budget-router.ts";
import { readConfig } from "../testing/read-config.ts";
import { startUpstream } from "../testing/upstreams.ts";

const price = { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5, tokensPerFile: 2000 };
type Body = Readonly<Record<string, unknown>>;

const TOKENS_PER_FILE = 2000;

/** The most tokens of a request: each byte of each text, name and id, and many of an image or a file. */
function inputTokensOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  if (["source", "file", "file_url", "image_url"].some((name) => name in value)) {
    return TOKENS_PER_FILE;
  }
  const fields = Object.entries(value).filter(([name]) => name !== "type" && name !== "ttl");
  return fields.reduce((sum, [, inner]) => sum + inputTokensOf(inner), 0);
}

/** Bills the most that a request allows, and returns its tokens and its price. */
function mostOf(body: Body, isAnthropic: boolean) {
  const limits = [body["max_tokens"], body["max_completion_tokens"], body["max_output_tokens"]];
  const known = limits.filter((limit) => typeof limit === "number");
  const output = known.length === 0 ? 100_000 : Math.max(...known);
  const input = inputTokensOf([
    body["messages"] ?? body["input"],
    body["tools"],
    body["system"],
    body["instructions"],
  ]);
  // OpenAI's APIs have no cache of an hour.
  const isLong = isAnthropic && JSON.stringify(body).includes('"ttl":"1h"');
  const factor = (body["service_tier"] === "priority" ? 2 : 1) * (body["speed"] === "fast" ? 6 : 1);
  const tools = Array.isArray(body["tools"]) ? (body["tools"] as { type?: string }[]) : [];
  const searches = tools.some(({ type }) => type?.startsWith("web_search")) ? 10 : 0;
  const perInput = isLong ? 20 : price.cacheWrite;
  const usd = (factor * (input * perInput + output * price.output)) / 1e6 + searches / 100;
  return { input, output, isLong, usd };
}

function replyOf(path: string, body: Body) {
  const { input, output, isLong, usd } = mostOf(body, path.endsWith("/messages"));
  const written = {
    cache_creation_input_tokens: input,
    cache_creation: { ephemeral_1h_input_tokens: isLong ? input : 0 },
  };
  if (path.endsWith("/messages")) {
    const content = [{ type: "text", text: "ok" }];
    const usage = { input_tokens: 0, ...written, output_tokens: output };
    const head = { id: "m", type: "message", role: "assistant", model: "m" };
    return { usd, reply: { ...head, content, stop_reason: "end_turn", usage } };
  }
  const details = { cache_write_tokens: input, cached_tokens: 0 };
  if (path.endsWith("/responses")) {
    const content = [{ type: "output_text", text: "ok", annotations: [] }];
    const message = { type: "message", id: "m", role: "assistant", status: "completed", content };
    const usage = { input_tokens: input, input_tokens_details: details, output_tokens: output };
    const head = { id: "r", object: "response", created_at: 1, status: "completed", model: "m" };
    return { usd, reply: { ...head, output: [message], usage } };
  }
  const message = { role: "assistant", content: "ok" };
  const usage = { prompt_tokens: input, prompt_tokens_details: details, completion_tokens: output };
  const choices = [{ index: 0, finish_reason: "stop", message }];
  return { usd, reply: { id: "c", created: 1, model: "m", choices, usage } };
}

/** Starts a service that bills the most it may. */
async function startDearUpstream() {
  const billed = { usd: 0, onCall: async (_usd: number) => {} };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { usd, reply } = replyOf(request.url ?? "", (await json(request)) as Body);
    billed.usd += usd;
    await billed.onCall(usd);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(reply));
  };
  const origin = await startUpstream((request, response) => void answer(request, response));
  return { origin, billed };
}

type Random = () => number;
const pick = <TItem>(random: Random, items: readonly TItem[]) =>
  items[Math.floor(random() * items.length)] as TItem;
const someOf = (random: Random, fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(() => random() < 0.15));

/** Returns a random request of each API; many of its fields make it dearer. */
function randomRequest(random: Random, path: string): object {
  const text = pick(random, ["Hello! ", "\u6771\u4eac", "{}[];"]).repeat(Math.ceil(random() * 300));
  const limit = Math.ceil(random() * 2000);
  const model = pick(random, ["auto", "nano", "frontier"]);
  const dear = someOf(random, {
    service_tier: pick(random, ["priority", "flex"]),
    speed: "fast",
    models: ["dear"],
    plugins: [{ id: "web" }],
    mcp_servers: [{ type: "url", url: "https://a.example.com" }],
    tools: [{ type: "web_search" }],
  });
  const url = "https://files.example.com/a.pdf";
  const isFile = random() < 0.1;
  const parameters = { type: "object", description: "x".repeat(random() * 2000) };
  const signature = "c2ln".repeat(Math.ceil(random() * 1000));
  if (path.endsWith("/responses")) {
    const file = isFile ? [{ type: "input_file", file_url: url }] : [];
    const content = [{ type: "input_text", text }, ...file];
    const call = {
      type: "function_call",
      call_id: "c".repeat(60),
      name: "look_up",
      arguments: "{}",
    };
    const history = [
      { role: "user", content: "Look." },
      { type: "reasoning", summary: [], encrypted_content: signature },
      call,
      { type: "function_call_output", call_id: call.call_id, output: text },
    ];
    const before = random() < 0.3 ? history : [];
    const own = someOf(random, { max_output_tokens: limit, reasoning: { effort: "high" } });
    const tools = random() < 0.3 && { tools: [{ type: "function", name: "look_up", parameters }] };
    return { model, input: [...before, { role: "user", content }], ...own, ...dear, ...tools };
  }
  const isChat = path.endsWith("/completions");
  const ttl = random() < 0.3 ? { cache_control: { type: "ephemeral", ttl: "1h" } } : {};
  const source = { type: "document", source: { type: "url", url } };
  const file = isChat ? { type: "file", file: { file_url: url } } : source;
  const content = [{ type: "text", text, ...ttl }, ...(isFile ? [file] : [])];
  const own = isChat
    ? someOf(random, { max_tokens: limit, max_completion_tokens: 1, reasoning_effort: "high" })
    : {
        max_tokens: limit,
        ...someOf(random, { thinking: { type: "enabled", budget_tokens: 1024 } }),
      };
  const image = isChat
    ? { type: "image_url", image_url: { url: "https://a.example.com/a.png" } }
    : { type: "image", source: { type: "url", url: "https://a.example.com/a.png" } };
  const named = { name: "look_up", description: "d" };
  const tool = isChat
    ? { type: "function", function: { ...named, parameters } }
    : { ...named, input_schema: parameters };
  const thought = { type: "thinking", thinking: "hm", signature };
  const call = isChat
    ? { id: "c".repeat(60), type: "function", function: { name: "look_up", arguments: "{}" } }
    : { type: "tool_use", id: "c".repeat(60), name: "look_up", input: { a: text } };
  const history = isChat
    ? [
        { role: "assistant", content: "Yes.", tool_calls: [call] },
        { role: "tool", tool_call_id: "c".repeat(60), content: text },
      ]
    : [
        { role: "assistant", content: [thought, call] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c".repeat(60), content: text }],
        },
      ];
  const shown = random() < 0.2 ? [...content, image, image] : content;
  const messages = [
    ...(random() < 0.3 ? [{ role: "user", content: "Look." }, ...history] : []),
    { role: "user", content: shown },
  ];
  const tools = random() < 0.3 && { tools: [tool] };
  return { model, messages, ...own, ...dear, ...tools };
}

const apis = [
  ["/v1/chat/completions", "openai-chat", "/v1"],
  ["/v1/responses", "openai-responses", "/v1"],
  ["/v1/messages", "anthropic", ""],
] as const;
const cases = apis.flatMap(([path]) =>
  apis.map(([, type, root], at) => ({ path, type, root, seed: 100 + at })),
);

async function dearRouter(usdPerDay: number, type: string, root: string) {
  const { origin, billed } = await startDearUpstream();
  const tier = { upstream: "dear", model: "m", price };
  const config = await readConfig({
    upstreams: { dear: { type, baseUrl: `${origin}${root}` } },
    tiers: { nano: tier, fast: tier, balanced: tier, frontier: tier },
  });
  const services = connectServices(parseRouterOptions({}, config));
  const router = await budgetRouter(usdPerDay, {}, { services, maxCallsInFlight: 200 });
  return { router, billed };
}

test.each(cases)(
  "each of forty random calls at $path is billed no more than it has reserved at $type",
  async ({ path, type, root, seed }) => {
    const { router, billed } = await dearRouter(1000, type, root);
    const more: number[] = [];
    billed.onCall = async (usd) => {
      more.push(usd - (await router.spent()).reservedNano / 1e9);
    };
    const random = seededRandom(seed + 50);
    for (let each = 0; each < 40; each += 1) {
      await (await router.post(path, randomRequest(random, path))).text();
    }
    expect(more.length).toBeGreaterThan(20);
    expect(Math.max(...more)).toBeLessThanOrEqual(0);
  },
);

test.each(cases)(
  "a hundred random calls at once at $path do not pass the budget at $type, however dear",
  async ({ path, type, root, seed }) => {
    const { router, billed } = await dearRouter(2, type, root);
    const random = seededRandom(seed);
    const asked = Array.from({ length: 100 }, async () => {
      const response = await router.post(path, randomRequest(random, path));
      await response.text();
      return response.status;
    });
    const statuses = new Set(await Promise.all(asked));
    const { dayNano, reservedNano } = await router.spent();
    expect(statuses).toContain(200);
    expect(reservedNano).toBe(0);
    expect(billed.usd).toBeLessThanOrEqual(2 + 1e-6);
    expect(dayNano / 1e9).toBeLessThanOrEqual(2 + 1e-6);
    expect(dayNano / 1e9).toBeGreaterThanOrEqual(billed.usd - 1e-6);
  },
);
