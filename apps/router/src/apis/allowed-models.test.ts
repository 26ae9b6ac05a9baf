import { describe, expect, test } from "vitest";
import type { Tier } from "../decision/tier-question.ts";
import { toHash, type RouterKey, storedKeySchema } from "../keys/router-key.ts";
import { defaultTierModels, parseRouterOptions } from "../router-options.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { testRouter } from "../testing/test-router.ts";
import { decisionFor, type Differences } from "../testing/upstreams.ts";

const { nano, fast, balanced, frontier } = defaultTierModels;
const [form] = apiForms;
const headers = { "content-type": "application/json", "x-api-key": "rk_alice" };

type Allowed = Partial<Pick<RouterKey, "tiers" | "models">>;

interface Given {
  readonly choice?: Tier;
  readonly differences?: Differences;
  readonly env?: Record<string, string>;
  readonly aliases?: Record<string, string>;
}

/** A router for one key, whose evaluations choose a tier. */
async function routerFor(
  key: Allowed,
  { choice = "frontier", differences, env, aliases = {} }: Given = {},
) {
  const named = { name: "alice", budget: "alice", sha256: toHash("rk_alice"), ...key };
  const keys = { current: () => [storedKeySchema.parse(named)] };
  const evaluation = () => Response.json(decisionFor(choice));
  const options = { ...parseRouterOptions(env ?? {}), aliases: new Map(Object.entries(aliases)) };
  const reply = () => replyStream(["fine"]);
  const router = await testRouter({ evaluation, reply, ...differences }, { ...options, keys });
  const send = async (path: string, body: object) => {
    const response = await router.request(path, { ...post(body), headers });
    const text = await response.text();
    const [cause, model] = ["cause", "model"].map((each) =>
      response.headers.get(`x-router-${each}`),
    );
    return { status: response.status, cause, model, text };
  };
  const asks = () => router.seen.filter(({ path }) => path.endsWith("/language-model")).length;
  return { send, asks, seen: router.seen };
}

const cheap: Allowed = { tiers: ["nano", "fast"] };

test.each<[Allowed, Tier, string | null, string]>([
  [cheap, "nano", "choice", nano],
  [cheap, "frontier", "key", fast],
  [{ tiers: ["nano", "frontier"] }, "fast", "key", frontier],
  [{ models: [balanced] }, "nano", "key", balanced],
  [{ models: [balanced] }, "balanced", "choice", balanced],
  [{ models: ["acme/x"] }, "nano", "key", "acme/x"],
  [{ tiers: ["fast"], models: ["acme/x"] }, "nano", "key", fast],
])("%j: the choice %s is answered because of %s by %s", async (key, choice, cause, model) => {
  const { send } = await routerFor(key, { choice });
  const answers = [
    await send("/chat", { message: "hi" }),
    await send("/decide", { message: "hi" }),
    await send(form.path, form.ask(["hi"], { model: "auto" })),
    await send(form.path, form.ask(["hi"], { model: "gpt-5" })),
  ];
  expect(answers).toMatchObject([
    { status: 200, cause, model },
    { status: 200, cause, model },
    { status: 200, cause, model },
    { status: 200, model },
  ]);
});

describe.each(apiForms)("$path", ({ path, ask }) => {
  test.each<[string, Allowed, number]>([
    ["nano", cheap, 200],
    ["frontier", cheap, 403],
    [fast, cheap, 200],
    [frontier, cheap, 403],
    ["acme/x", cheap, 403],
    ["mine", cheap, 403],
    ["nano", { models: [nano] }, 200],
    ["fast", { models: [nano] }, 403],
    [nano, { models: [nano] }, 200],
    [fast, { models: [nano] }, 403],
    ["acme/x", { tiers: ["fast"], models: ["acme/x"] }, 200],
    ["fast", { tiers: ["fast"], models: ["acme/x"] }, 200],
    [nano, { tiers: ["fast"], models: ["acme/x"] }, 403],
    ["frontier", {}, 200],
    ["acme/x", {}, 200],
  ])("%s, named with a key of %j, is answered with %i", async (model, key, status) => {
    const { send, seen } = await routerFor(key, { aliases: { mine: "balanced" } });
    const answer = await send(path, ask(["hi"], { model }));
    expect(answer.status).toBe(status);
    expect(seen.length === 0).toBe(status === 403);
  });
});

test("a client's small model, which means the cheapest tier, takes the next allowed one", async () => {
  const { send } = await routerFor({ tiers: ["balanced"] });
  const answer = await send(form.path, form.ask(["hi"], { model: "gpt-5-mini" }));
  expect(answer).toMatchObject({ status: 200, cause: "key", model: balanced });
});

test("the tier of a failed evaluation stays in the allowed ones", async () => {
  const evaluation = () => new Response("{}", { status: 500 });
  const env = { ROUTER_FAILURE_TIER: "frontier" };
  const { send } = await routerFor(cheap, { differences: { evaluation }, env });
  expect(await send("/chat", { message: "hi" })).toMatchObject({ cause: "key", model: fast });
});

test.each<[Allowed, string, number]>([
  [cheap, frontier, 1],
  [cheap, fast, 2],
  [cheap, "acme/x", 2],
  [{ tiers: ["nano"], models: ["acme/y"] }, "acme/x", 1],
  [{ models: [nano, "acme/x"] }, "acme/x", 2],
  [{}, frontier, 2],
])("%j: the fallback %s is asked only if it is allowed", async (key, fallback, asked) => {
  let isFirst = true;
  const reply = () => {
    const answer = isFirst ? new Response("{}", { status: 404 }) : replyStream(["fine"]);
    isFirst = false;
    return answer;
  };
  const given = { differences: { reply }, env: { ROUTER_FALLBACK_MODELS: fallback } };
  const { send, asks } = await routerFor(key, { ...given, choice: "nano" });
  await send(form.path, form.ask(["hi"], { model: "auto" }));
  expect(asks()).toBe(asked);
});

test("a shadow model that is not allowed does not reply", async () => {
  const env = { ROUTER_SHADOW: frontier };
  const given = { choice: "nano", env } as const;
  const [limited, free] = [await routerFor(cheap, given), await routerFor({}, given)];
  const body = form.ask(["hi"], { model: "auto" });
  expect(await limited.send(form.path, body)).toMatchObject({ cause: "choice", model: nano });
  expect(await free.send(form.path, body)).toMatchObject({ cause: "shadow", model: frontier });
});

test("a key without any known model gets a 403", async () => {
  const { send } = await routerFor({ models: ["no-provider"] });
  expect(await send("/chat", { message: "hi" })).toMatchObject({ status: 403 });
});
