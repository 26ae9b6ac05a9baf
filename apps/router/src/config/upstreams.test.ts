import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "../testing/start-program.ts";
import { startUpstream } from "../testing/upstreams.ts";

const key = "key-of-the-claude-upstream";
const price = { input: 10, output: 50, cacheRead: 1 };

/** Starts a server that answers in one API's form and keeps what it was asked. */
async function startServer(body: object) {
  const asked: { url: string | undefined; headers: object; body: { model?: unknown } }[] = [];
  const origin = await startUpstream(async (request, response) => {
    const { url, headers } = request;
    asked.push({ url, headers, body: JSON.parse(await text(request)) as object });
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  return { origin, asked };
}

const chatReply = { choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }] };
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-x",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 5000, cache_read_input_tokens: 95_000, output_tokens: 500 },
};

async function startConfigured() {
  const folder = await temporaryFolder();
  const file = join(folder, "router.json");
  const local = await startServer(chatReply);
  const claude = await startServer(message);
  const config = (frontier: string) => ({
    upstreams: {
      local: { type: "openai-chat", baseUrl: `${local.origin}/v1` },
      claude: { type: "anthropic", baseUrl: claude.origin, apiKeyEnv: "CLAUDE_KEY" },
    },
    tiers: {
      nano: { upstream: "local", model: "qwen3:4b", price: { input: 0, output: 0 } },
      frontier: { upstream: "claude", model: frontier, price },
    },
    aliases: { "gpt-4o": "frontier" },
  });
  const write = (value: unknown) => writeFile(file, JSON.stringify(value));
  await write(config("claude-x"));
  const log = join(folder, "log.jsonl");
  const env = { PORT: "0", ROUTER_CONFIG: file, CLAUDE_KEY: key, ROUTER_DECISION_LOG: log };
  const { child, firstOutput, ended } = startProgram("main.ts", env);
  onTestFinished(() => void child.kill("SIGKILL"));
  const origin = /http:\S+/.exec(String(await firstOutput))?.[0] ?? "";
  const ask = async (model: string) => {
    const answer = await fetch(`${origin}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "a-client's own" },
      body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hi" }] }),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  let printed = "";
  child.stderr.on("data", (chunk) => void (printed += String(chunk)));
  const reload = async () => {
    child.kill("SIGHUP");
    return String(await once(child.stderr, "data"));
  };
  const stop = async () => {
    child.kill("SIGTERM");
    return ended;
  };
  return {
    origin,
    local,
    claude,
    config,
    write,
    ask,
    printed: () => printed,
    reload,
    stop,
    log,
    file,
  };
}

test("each tier asks its upstream in its form; SIGHUP reads the file again, and a wrong one is not used", async () => {
  const { local, claude, config, write, ask, reload, stop, log, file } = await startConfigured();
  const passed = await ask("gpt-4o");
  expect(JSON.parse(passed.text)).toEqual(message);
  expect(passed.headers.get("x-router-tier")).toBe("frontier");
  expect(claude.asked).toMatchObject([
    { url: "/v1/messages", headers: { "x-api-key": key }, body: { model: "claude-x" } },
  ]);
  const translated = await ask("nano");
  expect(JSON.parse(translated.text)).toMatchObject({
    type: "message",
    model: "qwen3:4b",
    content: [{ type: "text", text: "Hi" }],
  });
  expect(local.asked).toMatchObject([{ url: "/v1/chat/completions", body: { model: "qwen3:4b" } }]);

  await write(config("claude-y"));
  expect(await reload()).toContain("The configuration was read again.");
  expect((await ask("frontier")).headers.get("x-router-model")).toBe("claude-y");

  await write({ ...config("claude-z"), tiers: { nano: { upstream: "locl", model: "m" } } });
  const warning = await reload();
  expect(warning).toContain(`${file}: tiers.nano.upstream "locl" is not one of upstreams`);
  expect((await ask("frontier")).headers.get("x-router-model")).toBe("claude-y");
  expect(await stop()).toMatchObject({ code: 0 });

  const records = (await readFile(log, "utf8")).trim().split("\n");
  expect(JSON.parse(records[0] ?? "")).toMatchObject({
    endpoint: "messages",
    upstream: "claude",
    cacheReadTokens: 95_000,
    inputTokens: 100_000,
    outputTokens: 500,
    replyCostUsd: 0.17,
    frontierCostUsd: 0.17,
  });
  expect(JSON.parse(records[1] ?? "")).toMatchObject({ upstream: "local", model: "qwen3:4b" });
}, 30_000);

test("SIGHUP with one more gateway reads its price list too, and names its missing models", async () => {
  const { origin, config, write, printed, reload } = await startConfigured();
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl: baseUrl } = await emulator.listen();
  const { upstreams, tiers } = config("claude-x");
  const fallbacks = [{ upstream: "listed", model: "acme/none" }];
  await write({
    upstreams: { ...upstreams, listed: { type: "gateway", baseUrl, apiKeyEnv: "CLAUDE_KEY" } },
    tiers: { ...tiers, fast: { upstream: "listed", model: "openai/gpt-5-nano", fallbacks } },
  });
  expect(await reload()).toContain("The configuration was read again.");
  const missing = "The gateway's price list has no model acme/none, which is set for fast;";
  await expect.poll(printed, { timeout: 20_000 }).toContain(missing);
  const listed = (await (await fetch(`${origin}/tiers`)).json()) as object[];
  expect(listed[1]).toMatchObject({ price: { inputUsdPerMillionTokens: 0.05 } });
}, 30_000);
