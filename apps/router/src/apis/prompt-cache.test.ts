import { hash } from "node:crypto";
import { expect, test } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";
import { defaultTierModels, parseRouterOptions } from "../router-options.ts";
import { post } from "../testing/api-forms.ts";
import { connectUpstream, type Upstream } from "../reply/upstream.ts";
import { configureReplies } from "../services/connect-services.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { servicesOver, testRouter } from "../testing/test-router.ts";
import { testGateway } from "../testing/upstreams.ts";

interface Block {
  readonly text: string;
  readonly isMarked: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

function toBlock({ providerOptions, ...rest }: Fields): Block {
  const { anthropic } = Object(providerOptions) as { anthropic?: Fields };
  return { text: JSON.stringify(rest), isMarked: anthropic?.["cacheControl"] !== undefined };
}

function toBlocks({ tools = [], prompt }: { tools?: Fields[]; prompt: Fields[] }): Block[] {
  const messages = prompt.flatMap(({ content, ...message }) =>
    typeof content === "string"
      ? [toBlock({ ...message, content })]
      : (content as Fields[]).map(toBlock),
  );
  return [...tools.map(toBlock), ...messages];
}

/** The cache of Anthropic's API: it keeps marked prefixes, and finds those up to 20 blocks before a mark. */
function anthropicCache() {
  const kept = new Set<string>();
  return (blocks: readonly Block[]) => {
    const prefixes = blocks.map((_, at) =>
      hash("sha256", JSON.stringify(blocks.slice(0, at + 1).map(({ text }) => text))),
    );
    const tokensTo = (end: number) =>
      blocks.slice(0, end + 1).reduce((sum, { text }) => sum + Math.ceil(text.length / 4), 0);
    const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
    const near = [...prefixes.keys()].filter((at) =>
      marks.some((mark) => at <= mark && at > mark - 20),
    );
    const hit = near.findLast((at) => kept.has(prefixes[at] ?? "")) ?? -1;
    const last = Math.max(hit, marks.at(-1) ?? -1);
    for (const at of marks) kept.add(prefixes[at] ?? "");
    const [read, marked] = [tokensTo(hit), tokensTo(last)];
    const total = tokensTo(blocks.length - 1);
    return { total, noCache: total - marked, cacheRead: read, cacheWrite: marked - read };
  };
}

const model = defaultTierModels.balanced;
const prices = new Map([
  [
    model,
    {
      inputUsdPerMillionTokens: 3,
      outputUsdPerMillionTokens: 15,
      cacheReadUsdPerMillionTokens: 0.3,
      cacheWriteUsdPerMillionTokens: 3.75,
    },
  ],
]);

/** Blocks of a body of OpenAI's chat API; a mark is at a part of a content. */
function toChatBlocks({ tools = [], messages }: { tools?: Fields[]; messages: Fields[] }): Block[] {
  const parts = messages.flatMap(({ content, tool_calls: calls }) => [
    ...(Array.isArray(content) ? (content as Fields[]) : [{ type: "text", text: content }]),
    { calls },
  ]);
  return [...tools, ...parts].map(({ cache_control: mark, ...rest }) => ({
    text: JSON.stringify(rest),
    isMarked: mark !== undefined,
  }));
}

/** A service of OpenAI's chat API with a model of Anthropic, which reports its cost as OpenRouter does. */
function chatService() {
  const ask = anthropicCache();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const body = (await new Request(input, init).json()) as Parameters<typeof toChatBlocks>[0];
    const { total, noCache, cacheRead, cacheWrite } = ask(toChatBlocks(body));
    const message = { role: "assistant", content: "fine" };
    const usage = {
      prompt_tokens: total,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
      cost: (noCache * 3 + cacheRead * 0.3 + cacheWrite * 3.75 + 100 * 15) / 1e6,
    };
    return Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }], usage });
  };
  const baseUrl = "http://chat.invalid/v1";
  return connectUpstream({ type: "openai-chat", name: "chat", baseUrl, apiKey: null, fetch });
}

/** Sends the steps of an agent, and returns the cost in the log, with the reads and writes of the cache. */
async function costOf(
  path: string,
  bodies: readonly object[],
  env: Record<string, string> = {},
  upstream: Upstream | null = null,
) {
  const ask = anthropicCache();
  const { fetch } = testGateway({
    reply: async (request) => {
      const inputTokens = ask(toBlocks((await request.json()) as never));
      return replyStream(["fine"], { usage: { inputTokens, outputTokens: { total: 100 } } });
    },
  });
  const options = parseRouterOptions(env);
  const services = servicesOver(fetch, options);
  const current =
    upstream === null ? services.replies.current : configureReplies(upstream, options);
  const records: MessageRecord[] = [];
  const { request } = await testRouter(
    {},
    {
      services: { ...services, replies: { ...services.replies, current } },
      options,
      policy: options.policy,
      prices,
      observe: (record) => records.push(record),
    },
  );
  for (const body of bodies) await (await request(path, post(body))).text();
  const sum = (name: "replyCostUsd" | "cacheReadTokens" | "cacheWriteTokens") =>
    records.reduce((total, record) => total + (record[name] ?? 0), 0);
  return {
    usd: sum("replyCostUsd"),
    reads: sum("cacheReadTokens"),
    writes: sum("cacheWriteTokens"),
  };
}

const instructions = "You are a coding agent. ".repeat(2000);
const schema = { type: "object", properties: { path: { type: "string" } } };
const names = Array.from({ length: 20 }, (_, at) => `tool_${at}`);
const description = "Reads a file of the project. ".repeat(50);
const output = (step: number) => `Line ${step} of the file. `.repeat(200);
const steps = Array.from({ length: 10 }, (_, step) => step);
const until = (step: number) => steps.slice(0, step);

const agentOfResponses = steps.map((step) => ({
  model,
  instructions,
  tools: names.map((name) => ({ type: "function", name, description, parameters: schema })),
  input: [
    { role: "user", content: "Fix the bug." },
    ...until(step).flatMap((at) => [
      { type: "function_call", call_id: `c${at}`, name: "tool_1", arguments: "{}" },
      { type: "function_call_output", call_id: `c${at}`, output: output(at) },
    ]),
  ],
}));

const agentOfChat = steps.map((step) => ({
  model,
  tools: names.map((name) => ({
    type: "function",
    function: { name, description, parameters: schema },
  })),
  messages: [
    { role: "system", content: instructions },
    { role: "user", content: "Fix the bug." },
    ...until(step).flatMap((at) => [
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: `c${at}`, type: "function", function: { name: "tool_1", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: `c${at}`, content: output(at) },
    ]),
  ],
}));

const cache_control = { type: "ephemeral" };

/** The same agent with its own marks, as Claude Code sets them. */
const markedAgent = steps.map((step) => ({
  model,
  max_tokens: 1000,
  system: [{ type: "text", text: instructions, cache_control }],
  tools: names.map((name) => ({ name, description, input_schema: schema })),
  messages: [
    { role: "user", content: [{ type: "text", text: "Fix the bug.", cache_control }] },
    ...until(step).flatMap((at) => [
      {
        role: "assistant",
        content: [{ type: "tool_use", id: `c${at}`, name: "tool_1", input: {} }],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: `c${at}`,
            content: output(at),
            ...(at >= step - 2 && { cache_control }),
          },
        ],
      },
    ]),
  ],
}));

test.each([
  ["/v1/responses", agentOfResponses],
  ["/v1/chat/completions", agentOfChat],
])(
  "ten steps of an agent of %s cost at most 1.1 times those with an agent's own marks",
  async (path, bodies) => {
    const own = await costOf("/v1/messages", markedAgent);
    const { usd, reads, writes } = await costOf(path, bodies);
    expect(usd).toBeLessThanOrEqual(1.1 * own.usd);
    expect(reads).toBeGreaterThan(5 * writes);
    const atChat = await costOf(path, bodies, {}, chatService());
    expect(atChat.usd).toBeLessThanOrEqual(1.1 * own.usd);
    expect(atChat.reads).toBeGreaterThan(5 * atChat.writes);
    const off = await costOf(path, bodies, { ROUTER_PROMPT_CACHE: "off" });
    expect([off.reads, off.writes]).toEqual([0, 0]);
    expect(off.usd).toBeGreaterThan(3 * usd);
  },
);
