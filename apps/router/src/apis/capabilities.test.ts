import { describe, expect, test } from "vitest";
import type { Tier } from "../decision/tier-question.ts";
import type { Capabilities } from "../reply/upstream.ts";
import { defaultTierModels, parseRouterOptions } from "../router-options.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { servicesOver, testRouter } from "../testing/test-router.ts";
import { decisionFor, testGateway } from "../testing/upstreams.ts";

type Answers = (model: string) => Response;

/** A router whose evaluations choose `nano`, with what its tiers' models can take. */
async function routerOf(
  able: Partial<Record<Tier, Capabilities>>,
  answer: Answers = () => replyStream(["fine"]),
  env: Record<string, string> = {},
) {
  const asked: string[] = [];
  const bodies: unknown[] = [];
  const { fetch } = testGateway({
    evaluation: () => Response.json(decisionFor("nano")),
    reply: async (request) => {
      const model = request.headers.get("ai-language-model-id") ?? "";
      bodies.push(await request.json());
      asked.push(model);
      return answer(model);
    },
  });
  const options = parseRouterOptions(env);
  const services = servicesOver(fetch, options);
  for (const [tier, each] of Object.entries(able)) {
    services.replies.capabilities.set(defaultTierModels[tier as Tier], each);
  }
  const router = await testRouter({}, { services, options, policy: options.policy });
  const send = async (path: string, body: object) => {
    const { headers, status } = await router.request(path, post(body));
    return [status, headers.get("x-router-cause"), headers.get("x-router-model")];
  };
  return { send, asked, bodies, request: router.request };
}

const { nano, fast, balanced } = defaultTierModels;
const long = "one two three four ".repeat(1000);

describe.each(apiForms)("$path", ({ path, ask }) => {
  test("a conversation takes the next tier up whose model can hold it, also in later steps", async () => {
    const { send } = await routerOf({
      nano: { contextWindow: 3000 },
      fast: { contextWindow: 2000 },
    });
    expect(await send(path, ask(["Fix it."]))).toEqual([200, "choice", nano]);
    expect(await send(path, ask([long]))).toEqual([200, "capability", balanced]);
    expect(await send(path, ask([long], { calls: 1 }))).toEqual([200, "turn", balanced]);
  });

  test("a turn that grows moves on once", async () => {
    const { send } = await routerOf({ nano: { contextWindow: 1500 } });
    expect(await send(path, ask(["Fix it."]))).toEqual([200, "choice", nano]);
    expect(await send(path, ask(["Fix it."], { calls: 100 }))).toEqual([200, "capability", fast]);
    expect(await send(path, ask(["Fix it."], { calls: 101 }))).toEqual([200, "turn", fast]);
  });

  test("tools are given to a model that can call them", async () => {
    const { send } = await routerOf({ nano: { tools: false } });
    expect(await send(path, ask(["Fix it."]))).toEqual([200, "capability", fast]);
  });

  test("if no model can take it, the choice is asked", async () => {
    const cannot = { tools: false };
    const { send } = await routerOf({
      nano: cannot,
      fast: cannot,
      balanced: cannot,
      frontier: cannot,
    });
    expect(await send(path, ask(["Fix it."]))).toEqual([200, "choice", nano]);
  });

  test("a model that refused a long conversation is not asked again for one", async () => {
    const refuses: Answers = (model) =>
      model === nano
        ? Response.json({ error: { message: "prompt is too long" } }, { status: 400 })
        : replyStream(["fine"]);
    const { send, asked } = await routerOf({}, refuses);
    expect((await send(path, ask([long])))[0]).toBe(400);
    expect(await send(path, ask([long], { calls: 1 }))).toEqual([200, "capability", fast]);
    expect(await send(path, ask([long], { calls: 2 }))).toEqual([200, "turn", fast]);
    expect(asked).toEqual([nano, fast, fast]);
  });
});

test("an image is given to a model that reads images", async () => {
  const { send } = await routerOf({ nano: { images: false }, fast: { images: false } });
  const url = "data:image/png;base64,aGk=";
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url } },
  ];
  const body = { model: "auto", messages: [{ role: "user", content }] };
  expect(await send("/v1/chat/completions", body)).toEqual([200, "capability", balanced]);
});

test("a fallback that can take a request comes before another tier", async () => {
  const env = { ROUTER_FALLBACK_MODELS: "a/fallback" };
  const { send, asked } = await routerOf({ nano: { tools: false } }, undefined, env);
  const body = apiForms[0].ask(["Fix it."]);
  expect(await send(apiForms[0].path, body)).toEqual([200, "capability", "a/fallback"]);
  expect(asked).toEqual(["a/fallback"]);
});

test("/chat asks a model that can hold the message", async () => {
  const { send } = await routerOf({ nano: { contextWindow: 2000 } });
  const [status, cause] = await send("/chat", { message: long });
  expect([status, cause]).toEqual([200, "capability"]);
});

test("a limit of tokens above the model's most is cut to it", async () => {
  const { send, bodies } = await routerOf({ nano: { maxOutputTokens: 4000 } });
  const [chat] = apiForms;
  await send(chat.path, { ...chat.ask(["hi"]), max_tokens: 64_000 });
  await send(chat.path, { ...chat.ask(["ho"]), max_tokens: 100 });
  expect(bodies).toMatchObject([{ maxOutputTokens: 4000 }, { maxOutputTokens: 100 }]);
});

test("/v1/models shows what the models can take, and of auto the best", async () => {
  const { request } = await routerOf({
    nano: { contextWindow: 32_000, maxOutputTokens: 8000, images: false, tools: true },
    frontier: { contextWindow: 1_000_000, images: true, tools: true, efforts: ["low", "high"] },
  });
  const idsOf = async (headers: Record<string, string> = {}) => {
    const response = await request("/v1/models", { headers });
    const { data } = (await response.json()) as { data: { id: string }[] };
    return new Map(data.map((model) => [model.id, model]));
  };
  const models = await idsOf();
  expect(models.get("nano")).toMatchObject({
    context_window: 32_000,
    max_tokens: 8000,
    capabilities: { images: false, tools: true },
  });
  expect(models.get("auto")).toMatchObject({
    context_window: 1_000_000,
    capabilities: { images: true, tools: true, efforts: ["low", "high"] },
  });
  expect(models.get("fast")).toEqual({
    id: "fast",
    object: "model",
    created: 0,
    owned_by: "router",
    capabilities: {},
  });
  const anthropic = await idsOf({ "anthropic-version": "2023-06-01" });
  expect(anthropic.get("nano")).toMatchObject({ max_input_tokens: 32_000, max_tokens: 8000 });
});
