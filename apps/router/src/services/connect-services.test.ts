import { createEmulator } from "evaluator-emulator";
import type { Environment } from "evaluator-kit";
import { expect, onTestFinished, test } from "vitest";
import { toConversation } from "../conversation/conversation.ts";
import { MessageRouter } from "../message-router.ts";
import { parseRouterOptions } from "../router-options.ts";
import { keepOutput, plantedKey } from "../testing/keep-output.ts";
import { local, readConfig } from "../testing/read-config.ts";
import { startUpstream } from "../testing/upstreams.ts";
import { connectServices } from "./connect-services.ts";
import { defaultPolicy } from "../testing/test-router.ts";

const { signal } = new AbortController();

async function ask(message: string, env: Environment) {
  const router = new MessageRouter({
    services: connectServices(parseRouterOptions(env)),
    policy: defaultPolicy,
    prices: new Map(),
    instance: "one",
    observers: [],
  });
  const ids = { requestId: "test", endpoint: "chat" } as const;
  const call = { ...ids, signal, key: null, budget: null };
  const decision = await router.decide({ user_message: message }, call);
  const listener = () => undefined;
  const { reply } = await router.reply(decision, toConversation(message), { ...call, listener });
  keepOutput()([decision, reply]);
  return { tier: decision.tierChosen, replyError: reply.replyError };
}

async function startEmulator() {
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  return emulator.listen();
}

test("without a key the emulator answers, and says so", async () => {
  const { notice, isEmulated } = connectServices(parseRouterOptions({}));
  expect(isEmulated).toBe(true);
  expect(notice).toContain("set AI_GATEWAY_API_KEY to use the real service");
  expect(await ask("hi", {})).toMatchObject({ tier: "nano", replyError: null });
});

test("with a key the gateway at EVALUATOR_BASE_URL answers both calls", async () => {
  const { gatewayBaseUrl } = await startEmulator();
  const env = { AI_GATEWAY_API_KEY: plantedKey, EVALUATOR_BASE_URL: gatewayBaseUrl };
  expect(await ask("hi", env)).toMatchObject({ tier: "nano", replyError: null });
});

test("the vendor decides and the gateway replies when EVALUATOR_TRANSPORT is direct", async () => {
  const { gatewayBaseUrl, directBaseUrl } = await startEmulator();
  const env = {
    AI_GATEWAY_API_KEY: plantedKey,
    EVALUATOR_BASE_URL: gatewayBaseUrl,
    EVALUATOR_TRANSPORT: "direct",
    EVALUATOR_DIRECT_API_KEY: plantedKey,
    EVALUATOR_DIRECT_BASE_URL: directBaseUrl,
  };
  expect(await ask("hi", env)).toMatchObject({ tier: "nano", replyError: null });
});

test("a redirect of the reply is a failure, and its target is not asked", async () => {
  const asked: string[] = [];
  const { gatewayBaseUrl } = await startEmulator();
  const target = await startUpstream(({ url = "" }, response) => {
    asked.push(url);
    response.end("{}");
  });
  const origin = await startUpstream((request, response) => {
    const isReply = request.url?.endsWith("/language-model");
    const location = isReply ? `${target}/elsewhere` : "";
    if (isReply) response.writeHead(307, { location }).end();
    else request.pipe(response.writeHead(404));
  });
  const env = {
    AI_GATEWAY_API_KEY: plantedKey,
    EVALUATOR_BASE_URL: `${origin}/v4/ai`,
    EVALUATOR_TRANSPORT: "direct",
    EVALUATOR_DIRECT_API_KEY: plantedKey,
    EVALUATOR_DIRECT_BASE_URL: new URL(gatewayBaseUrl).origin,
  };
  const { tier, replyError } = await ask("hi", env);
  expect({ tier, replyError, asked }).toEqual({
    tier: "nano",
    replyError: expect.stringContaining("307"),
    asked: [],
  });
});

const gatewayAt = (port: number) => ({
  type: "gateway",
  baseUrl: `http://127.0.0.1:${port}/v4/ai`,
  apiKeyEnv: "CLAUDE_KEY",
});

test.each([
  ["the emulator alone has a list", {}, {}, 1],
  ["so do all gateways", { AI_GATEWAY_API_KEY: plantedKey }, { one: gatewayAt(1) }, 2],
  ["two names of one gateway have one", {}, { one: gatewayAt(1), other: gatewayAt(1) }, 1],
  ["the emulator beside a gateway has none", {}, { one: gatewayAt(1), other: gatewayAt(2) }, 2],
])("of the price lists, %s", async (_situation, env, upstreams, count) => {
  const services = connectServices(parseRouterOptions(env, await readConfig({ upstreams })));
  expect(services.replies.catalogs).toHaveLength(count);
});

test("a model that only the client names is asked of the file's gateway, not of the emulator", async () => {
  const config = await readConfig({ upstreams: { local, one: gatewayAt(1) } });
  const upstreamOf = (env: Environment) => {
    const { current } = connectServices(parseRouterOptions(env, config)).replies;
    return current.planOfModel("acme/large")?.targets[0].upstream.name;
  };
  expect(upstreamOf({})).toBe("one");
  expect(upstreamOf({ AI_GATEWAY_API_KEY: plantedKey })).toBe("gateway");
});
