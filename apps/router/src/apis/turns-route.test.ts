import { describe, expect, test } from "vitest";
import type { Tier } from "../decision/tier-question.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { defaultPolicy, testRouter } from "../testing/test-router.ts";
import { decisionFor, type Differences, hangingUpstream } from "../testing/upstreams.ts";

/** A router whose evaluations choose the given tiers in turn. */
async function routerOf(tiers: readonly Tier[], differences: Differences = {}, parts = {}) {
  let asked = 0;
  const evaluation = () => {
    const tier = tiers[Math.min(asked, tiers.length - 1)] ?? "fast";
    asked += 1;
    return Response.json(decisionFor(tier));
  };
  const router = await testRouter({ evaluation, ...differences }, parts);
  const evaluations = () =>
    router.seen.filter(({ path }) => path.endsWith("/evaluation-model")).length;
  const send = async (path: string, body: object, init: RequestInit = {}) => {
    const response = await router.request(path, { ...post(body), ...init });
    await response.text();
    const { headers } = response;
    return [headers.get("x-router-cause"), headers.get("x-router-model")];
  };
  return { send, evaluations };
}

const reminder = "<system-reminder>The file changed.</system-reminder>";
const steps = Array.from({ length: 20 }, (_, calls) => calls);
const [nano, fast, balanced] = [
  "openai/gpt-5-nano",
  "google/gemini-3.1-flash-lite",
  "anthropic/claude-sonnet-5.5",
];

describe.each(apiForms)("$path", ({ path, ask }) => {
  test.each([true, false])("20 steps ask for 1 evaluation (stream: %s)", async (stream) => {
    const { send, evaluations } = await routerOf(["fast", "frontier"]);
    const answers = [];
    for (const calls of steps) {
      answers.push(await send(path, ask(["Fix the bug."], { calls, reminder, stream })));
    }
    expect(evaluations()).toBe(1);
    expect(answers).toEqual([["choice", fast], ...steps.slice(1).map(() => ["turn", fast])]);
  });

  test("a program's own text beside the user's begins no turn", async () => {
    const { send, evaluations } = await routerOf(["fast", "nano"]);
    const framed = `<task>Fix the bug.</task>\n<environment_details>12:00</environment_details>`;
    const later = framed.replace("12:00", "12:01");
    expect(await send(path, ask([framed]))).toEqual(["choice", fast]);
    expect(await send(path, ask([later], { calls: 1 }))).toEqual(["turn", fast]);
    expect(await send(path, ask([later, "Go on."]))).toEqual(["choice", nano]);
    expect(evaluations()).toBe(2);
  });

  test.each([
    ["smolagents", ["Fix the bug."], ["Fix the bug.", "Observation:\nfixed"]],
    [
      "DSPy",
      ["Fix the bug.\n\n[[ ## trajectory ## ]]\n"],
      ["Fix the bug.\n\n[[ ## trajectory ## ]]\nfixed"],
    ],
  ])("the steps of %s, which are texts, ask for 1 evaluation", async (_name, first, second) => {
    const { send, evaluations } = await routerOf(["fast", "nano"]);
    expect(await send(path, ask(first))).toEqual(["choice", fast]);
    expect(await send(path, ask(second))).toEqual(["turn", fast]);
    expect(evaluations()).toBe(1);
  });

  test("simultaneous first steps share one evaluation", async () => {
    const { send, evaluations } = await routerOf(["fast", "nano"]);
    const first = () => send(path, ask(["Fix the bug."]));
    const answers = await Promise.all([first(), first(), first(), first()]);
    expect(evaluations()).toBe(1);
    expect(answers.map(([, model]) => model)).toEqual([fast, fast, fast, fast]);
    expect(answers.filter(([cause]) => cause === "turn")).toHaveLength(3);
  });

  test("a first step whose client goes away does not end the others", async () => {
    const hanging = hangingUpstream();
    const answers = [hanging.answer, () => Response.json(decisionFor("fast"))];
    const evaluation = (request: Request) => (answers.shift() ?? hanging.answer)(request);
    const { send, evaluations } = await routerOf([], { evaluation });
    const client = new AbortController();
    const first = () => ask(["Fix the bug."]);
    const gone = send(path, first(), { signal: client.signal });
    await hanging.reached;
    const others = [send(path, first()), send(path, first())];
    client.abort();
    expect(await gone).toEqual([null, null]);
    expect((await Promise.all(others)).map(([, model]) => model)).toEqual([fast, fast]);
    expect(evaluations()).toBe(2);
  });

  test("the model that replaced a failed one stays for the turn", async () => {
    let isDown = false;
    const reply = ({ headers }: Request) => {
      const fails = isDown && headers.get("ai-language-model-id") === fast;
      if (fails) return Response.json({ error: { message: "down" } }, { status: 500 });
      return replyStream(["fine"]);
    };
    const policy = { ...defaultPolicy, fallbackModels: ["a/fallback"] };
    const { send, evaluations } = await routerOf(["fast", "nano"], { reply }, { policy });
    const step = (calls: number) => send(path, ask(["Fix the bug."], { calls }));
    expect(await step(0)).toEqual(["choice", fast]);
    isDown = true;
    expect(await step(1)).toEqual(["model-failed", "a/fallback"]);
    isDown = false;
    expect(await step(2)).toEqual(["turn", "a/fallback"]);
    expect(evaluations()).toBe(1);
  });

  test("a fallback's model does not stay for the same words in another conversation", async () => {
    let isFull = true;
    const reply = ({ headers }: Request) => {
      const fails = isFull && headers.get("ai-language-model-id") === fast;
      return fails ? Response.json({ error: {} }, { status: 413 }) : replyStream(["fine"]);
    };
    const policy = { ...defaultPolicy, fallbackModels: ["a/fallback"] };
    const { send } = await routerOf(["fast", "nano"], { reply }, { policy });
    const go = (calls: number) => send(path, ask(["continue"], { calls }));
    expect(await go(0)).toEqual(["model-refused", "a/fallback"]);
    isFull = false;
    expect(await go(1)).toEqual(["turn", "a/fallback"]);
    expect(await go(0)).toEqual(["turn", fast]);
  });

  test("a model that failed is not asked first in the next conversation", async () => {
    const asked: (string | null)[] = [];
    const reply = ({ headers }: Request) => {
      const model = headers.get("ai-language-model-id");
      asked.push(model);
      if (model === fast) return Response.json({ error: { message: "down" } }, { status: 500 });
      return replyStream(["fine"]);
    };
    const policy = { ...defaultPolicy, fallbackModels: ["a/fallback"] };
    const { send } = await routerOf(["fast"], { reply }, { policy });
    const failed = ["model-failed", "a/fallback"];
    expect(await send(path, ask(["Fix the bug."]))).toEqual(failed);
    expect(await send(path, ask(["Write a poem."], { stream: true }))).toEqual(failed);
    expect(asked).toEqual([fast, "a/fallback", "a/fallback"]);
  });

  const price = (dollars: number, cacheRead: number) => ({
    inputUsdPerMillionTokens: dollars,
    outputUsdPerMillionTokens: dollars,
    cacheReadUsdPerMillionTokens: cacheRead,
  });
  const cached = {
    inputTokens: { total: 100_000, noCache: 1000, cacheRead: 99_000, cacheWrite: 0 },
    outputTokens: { total: 10 },
  };

  test.each([
    ["stays with the dearer model if its cache makes it cheaper", 0.1, "warm-cache", balanced],
    ["takes the cheaper model if it costs less without a cache", 3, "choice", nano],
  ])("a new turn %s", async (_, cacheRead, cause, model) => {
    const prices = new Map([
      [balanced, price(3, cacheRead)],
      [nano, price(1, 1)],
    ]);
    const reply = () => replyStream(["fine"], { usage: cached });
    const { send, evaluations } = await routerOf(["balanced", "nano"], { reply }, { prices });
    expect(await send(path, ask(["Fix the bug."]))).toEqual(["choice", balanced]);
    const next = (calls: number) => send(path, ask(["Fix the bug.", "Thanks."], { calls }));
    expect(await next(0)).toEqual([cause, model]);
    expect(await next(1)).toEqual(["turn", model]);
    expect(evaluations()).toBe(2);
  });

  test("callers with other keys have other turns", async () => {
    const { send, evaluations } = await routerOf(["fast", "nano"]);
    const as = (key: string) =>
      send(path, ask(["Fix the bug."]), post(ask(["Fix the bug."]), { "x-api-key": key }));
    expect(await as("ann")).toEqual(["choice", fast]);
    expect(await as("bob")).toEqual(["choice", nano]);
    expect(evaluations()).toBe(2);
  });
});
