import { expect, test } from "vitest";
import type { Decision } from "./decision.ts";
import { createTurns, staysWarm } from "./turns.ts";

const price = (input: number, cacheRead = input) => ({
  inputUsdPerMillionTokens: input,
  outputUsdPerMillionTokens: 5 * input,
  cacheReadUsdPerMillionTokens: cacheRead,
});
const decided = (tierUsed: Decision["tierUsed"], model = price(1)) =>
  ({ tierUsed, model: "m", prices: { model, frontier: null } }) as Decision;
const usage = { input: 100, cacheRead: 100_000, cacheWrite: 0, output: 10, reasoning: null };

test("the later steps of a turn keep its decision, and another caller's do not", async () => {
  const turnOf = createTurns();
  const first = await turnOf("ann", ["go"]).decide(async () => decided("fast"));
  expect(first).toMatchObject({ isKept: false });
  const never = async () => decided("nano");
  expect(await turnOf("ann", ["go"]).decide(never)).toEqual({ ...first, isKept: true });
  expect(await turnOf("ann", ["go\n"]).decide(never)).toMatchObject({ isKept: true });
  expect(await turnOf("bob", ["go"]).decide(never)).toMatchObject({ isKept: false });
  expect(await turnOf("ann", ["go", "on"]).decide(never)).toMatchObject({ isKept: false });
});

test("simultaneous first steps share one decision", async () => {
  const turnOf = createTurns();
  const decision = Promise.withResolvers<Decision>();
  let asked = 0;
  const steps = Array.from({ length: 5 }, () =>
    turnOf("", ["go"]).decide(() => {
      asked += 1;
      return decision.promise;
    }),
  );
  decision.resolve(decided("fast"));
  expect((await Promise.all(steps)).filter(({ isKept }) => isKept)).toHaveLength(4);
  expect(asked).toBe(1);
});

test("a decision that fails is forgotten, and the next step decides", async () => {
  const turnOf = createTurns();
  const fail = Promise.withResolvers<Decision>();
  const first = turnOf("", ["go"]).decide(() => fail.promise);
  const second = turnOf("", ["go"]).decide(async () => decided("fast"));
  fail.reject(new Error("stopped"));
  await expect(first).rejects.toThrow("stopped");
  expect(await second).toMatchObject({ isKept: false, decision: { tierUsed: "fast" } });
});

test("the model that replied in place of the first is kept", async () => {
  const turnOf = createTurns();
  const turn = turnOf("", ["go"]);
  await turn.decide(async () => decided("fast"));
  turn.keep(decided("frontier"), null);
  const next = await turnOf("", ["go"]).decide(async () => decided("nano"));
  expect(next.decision.tierUsed).toBe("frontier");
});

test("a new turn knows the turn before with its tokens", async () => {
  const turnOf = createTurns();
  turnOf("", ["go"]).keep(decided("balanced"), usage);
  let known: unknown;
  await turnOf("", ["go", "on"]).decide(async (before) => {
    known = before;
    return decided("nano");
  });
  expect(known).toEqual({ decision: decided("balanced"), usage });
});

test("a step without tokens keeps those of the step before", async () => {
  const turnOf = createTurns();
  turnOf("", ["go"]).keep(decided("balanced"), usage);
  turnOf("", ["go"]).keep(decided("balanced"), null);
  let known: unknown;
  await turnOf("", ["go", "on"]).decide(async (before) => {
    known = before;
    return decided("nano");
  });
  expect(known).toMatchObject({ usage });
});

test("a turn is forgotten after an hour, and the oldest of more than 10,000", async () => {
  let now = 0;
  const turnOf = createTurns(() => now);
  const isKept = async (text: string) =>
    (await turnOf("", [text]).decide(async () => decided("fast"))).isKept;
  await isKept("go");
  now = 3_600_000;
  expect(await isKept("go")).toBe(false);
  for (let n = 0; n < 10_000; n += 1) turnOf("", [`${n}`]).keep(decided("fast"), null);
  expect(await isKept("0")).toBe(true);
  expect(await isKept("go")).toBe(false);
});

test.each([
  ["the cache makes the dearer model cheaper", "balanced", price(10, 0.1), "fast", price(1), true],
  [
    "the cheaper model is cheaper without a cache too",
    "balanced",
    price(10),
    "fast",
    price(1),
    false,
  ],
  ["a dearer tier is taken", "fast", price(1, 0.01), "balanced", price(10), false],
  ["the same tier is the same model", "fast", price(1, 0.01), "fast", price(1), false],
] as const)("%s", (_, from, fromPrice, to, toPrice, stays) => {
  const before = { decision: decided(from, fromPrice), usage };
  expect(staysWarm(before, decided(to, toPrice), "and now?")).toBe(stays);
});

test("a service that caches by itself, and counts reads alone, is warm after its first long reply", () => {
  const before = (input: number, cacheWrite: number | null = null) => ({
    decision: decided("frontier", price(10, 1)),
    usage: { ...usage, input, cacheRead: 0, cacheWrite },
  });
  const next = decided("balanced", price(2));
  expect(staysWarm(before(100_000), next, "yes, do it")).toBe(true);
  expect(staysWarm(before(100_000, 0), next, "yes, do it")).toBe(false);
  expect(staysWarm(before(1000), next, "yes, do it")).toBe(false); // too short to be cached
});

test("without a known price, a warm cache is not left; without a cache, it is", () => {
  const unknown = { ...decided("nano"), prices: { model: null, frontier: null } };
  expect(staysWarm({ decision: decided("fast"), usage }, unknown, "")).toBe(true);
  const cold = { ...usage, cacheRead: 0 };
  expect(staysWarm({ decision: decided("fast"), usage: cold }, unknown, "")).toBe(false);
});
