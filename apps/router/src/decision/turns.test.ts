import { expect, test } from "vitest";
import type { Decision } from "./decision.ts";
import type { Conversation, Message, Part } from "../conversation/conversation.ts";
import { createTurns, readTalk, staysWarm } from "./turns.ts";

const price = (input: number, cacheRead = input) => ({
  inputUsdPerMillionTokens: input,
  outputUsdPerMillionTokens: 5 * input,
  cacheReadUsdPerMillionTokens: cacheRead,
});
const decided = (tierUsed: Decision["tierUsed"], model = price(1)) =>
  ({ tierUsed, cause: "choice", model: "m", prices: { model, frontier: null } }) as Decision;
const first = (...turns: string[]) => ({ turns, isLater: false });
const later = (...turns: string[]) => ({ turns, isLater: true });
const usage = { input: 100, cacheRead: 100_000, cacheWrite: 0, output: 10, reasoning: null };

test("the later steps of a turn keep its decision, and another caller's do not", async () => {
  const turnOf = createTurns();
  const made = await turnOf("ann", first("go")).decide(async () => decided("fast"));
  expect(made).toMatchObject({ isKept: false });
  const never = async () => decided("nano");
  expect(await turnOf("ann", later("go")).decide(never)).toEqual({ ...made, isKept: true });
  expect(await turnOf("bob", later("go")).decide(never)).toMatchObject({ isKept: false });
  expect(await turnOf("ann", first("go", "on")).decide(never)).toMatchObject({ isKept: false });
});

test("the same words at the start of another conversation take the choice, not its replacement", async () => {
  const turnOf = createTurns();
  await turnOf("", first("go")).decide(async () => decided("fast"));
  turnOf("", first("go")).keep({ ...decided("frontier"), cause: "model-failed" }, null);
  const never = async () => decided("nano");
  const tierOf = async (step: typeof first) =>
    (await turnOf("", step("go")).decide(never)).decision.tierUsed;
  expect(await tierOf(later)).toBe("frontier");
  expect(await tierOf(first)).toBe("fast");
});

test.each(["evaluation-failed", "decision-timeout", "calibration-mismatch", "budget"] as const)(
  "a tier by %s holds for the steps of its turn only",
  async (cause) => {
    const turnOf = createTurns();
    await turnOf("", first("go")).decide(async () => ({ ...decided("frontier"), cause }));
    const decideNew = async () => decided("nano");
    expect((await turnOf("", later("go")).decide(decideNew)).decision.tierUsed).toBe("frontier");
    expect(await turnOf("", first("go")).decide(decideNew)).toMatchObject({ isKept: false });
    expect((await turnOf("", first("go")).decide(decideNew)).decision.tierUsed).toBe("nano");
  },
);

test("simultaneous first steps share a failure's tier, and wait for it once", async () => {
  const turnOf = createTurns();
  const decision = Promise.withResolvers<Decision>();
  const steps = Array.from({ length: 5 }, () =>
    turnOf("", first("go")).decide(() => decision.promise),
  );
  decision.resolve({ ...decided("fast"), cause: "decision-timeout" });
  expect((await Promise.all(steps)).filter(({ isKept }) => isKept)).toHaveLength(4);
});

const text = (value: string) => ({ type: "text", text: value }) as const;
const call: Part = { type: "toolCall", id: "1", name: "f", arguments: "{}", signature: null };
const result: Part = { type: "toolResult", id: "1", parts: [text("12:00")], isError: false };
const talkOf = (...messages: [Message["role"], ...Part[]][]) =>
  readTalk({
    messages: messages.map(([role, ...parts]) => ({ role, parts })),
  } satisfies Pick<Conversation, "messages">);

test("a turn is its whole conversation's words, without tools, system text and line breaks at an end", () => {
  const turnsAfter = (answer: string, ...rest: Parameters<typeof talkOf>) =>
    talkOf(
      ["user", text("Write a parser")],
      ["assistant", text(answer)],
      ["user", text("yes")],
      ...rest,
    );
  const { turns, texts, isLater } = turnsAfter("In C?");
  expect([texts, isLater]).toEqual([["Write a parser", "yes"], false]);
  expect(turnsAfter("In Java?").turns).not.toEqual(turns);
  expect(turnsAfter("In C?\n", ["assistant", call], ["user", result])).toEqual({
    turns,
    texts,
    isLater: true,
  });
  const timed = talkOf(["system", text("It is 12:00.")], ["user", text("go\n")]);
  expect(timed.turns).toEqual(talkOf(["user", text("go")]).turns);
});

test("simultaneous first steps share one decision", async () => {
  const turnOf = createTurns();
  const decision = Promise.withResolvers<Decision>();
  let asked = 0;
  const steps = Array.from({ length: 5 }, () =>
    turnOf("", first("go")).decide(() => {
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
  const failing = turnOf("", first("go")).decide(() => fail.promise);
  const second = turnOf("", first("go")).decide(async () => decided("fast"));
  fail.reject(new Error("stopped"));
  await expect(failing).rejects.toThrow("stopped");
  expect(await second).toMatchObject({ isKept: false, decision: { tierUsed: "fast" } });
});

test("the model that replied in place of the first is kept", async () => {
  const turnOf = createTurns();
  const turn = turnOf("", first("go"));
  await turn.decide(async () => decided("fast"));
  turn.keep(decided("frontier"), null);
  const next = await turnOf("", later("go")).decide(async () => decided("nano"));
  expect(next.decision.tierUsed).toBe("frontier");
});

test("a new turn knows the turn before with its tokens", async () => {
  const turnOf = createTurns();
  turnOf("", first("go")).keep(decided("balanced"), usage);
  let known: unknown;
  await turnOf("", first("go", "on")).decide(async (before) => {
    known = before;
    return decided("nano");
  });
  expect(known).toEqual({ decision: decided("balanced"), usage });
});

test("a step without tokens keeps those of the step before", async () => {
  const turnOf = createTurns();
  turnOf("", first("go")).keep(decided("balanced"), usage);
  turnOf("", first("go")).keep(decided("balanced"), null);
  let known: unknown;
  await turnOf("", first("go", "on")).decide(async (before) => {
    known = before;
    return decided("nano");
  });
  expect(known).toMatchObject({ usage });
});

test("a turn is forgotten after an hour, and the oldest of more than 10,000", async () => {
  let now = 0;
  const turnOf = createTurns(() => now);
  const isKept = async (words: string) =>
    (await turnOf("", later(words)).decide(async () => decided("fast"))).isKept;
  await isKept("go");
  now = 3_600_000;
  expect(await isKept("go")).toBe(false);
  for (let n = 0; n < 10_000; n += 1) turnOf("", first(`${n}`)).keep(decided("fast"), null);
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
