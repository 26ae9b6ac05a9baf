import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { toConversation } from "../conversation/conversation.ts";
import type { ReplyPlan } from "../reply/upstream.ts";
import { reservedNano, toNano } from "./budget-state.ts";
import { CallBudget } from "./call-budget.ts";
import { dearestUsd, evaluationUsd, expectedTokens } from "./call-price.ts";
import { sqliteLedger } from "./key-database.ts";
import { Ledger } from "./ledger.ts";
import { ReplyLimitError } from "../reply/reply-piece.ts";

const key = { budget: "team", usdPerDay: 10, usdPerMonth: 100 };
const conversation = toConversation("Hello");
const prices = new Map();
const evaluated = "x".repeat(30_000);

function planFor(usdPerMillionTokens: number): ReplyPlan {
  const price = {
    inputUsdPerMillionTokens: usdPerMillionTokens,
    outputUsdPerMillionTokens: usdPerMillionTokens,
  };
  return {
    targets: [{ model: "maker/model", upstream: { type: "openai-chat" }, price }],
  } as unknown as ReplyPlan;
}

const [dear, cheap, cheaper] = [planFor(100), planFor(1), planFor(0.5)];
const usdOf = (plan: ReplyPlan) =>
  evaluationUsd(evaluated) + dearestUsd(plan, expectedTokens(conversation), prices);

/** A call that has reserved its dearest case. */
async function reservedCall({ plans = [dear], spentUsd = 0 } = {}) {
  const path = join(await temporaryFolder(), "spend.sqlite");
  const now = () => Date.UTC(2026, 10, 24);
  const ledger = new Ledger(() => sqliteLedger(path), { leaseMs: 60_000, now });
  onTestFinished(() => ledger.close());
  const { held } = await ledger.reserve(key, [toNano(spentUsd)]);
  if (held !== null) await ledger.settle(key, held, toNano(spentUsd));
  const budget = new CallBudget(key, { ledger, prices });
  onTestFinished(() => budget.settle(0, 0));
  const fitting = await budget.reserve({ evaluatedText: evaluated, conversation, plans });
  const amounts = async () => {
    const state = await ledger.state(key);
    return { reserved: reservedNano(state), spent: state.dayNano - toNano(spentUsd) };
  };
  return { budget, fitting, amounts };
}

test("the evaluation and the dearest reply are reserved", async () => {
  const { amounts } = await reservedCall();
  expect(await amounts()).toEqual({ reserved: toNano(usdOf(dear)), spent: 0 });
});

test("the dearest plan that fits is reserved, whatever its place, and all cheaper ones may reply", async () => {
  const { fitting, amounts } = await reservedCall({ plans: [cheap, dear, cheaper] });
  expect(fitting).toEqual([dear, cheap, cheaper]);
  expect((await amounts()).reserved).toBe(toNano(usdOf(dear)));
  const less = await reservedCall({
    plans: [cheap, dear, cheaper],
    spentUsd: 10 - 2 * usdOf(cheap),
  });
  expect(less.fitting).toEqual([cheaper]); // near the limit
});

test("near the limit the cheapest tier is reserved, of equal ones the first", async () => {
  const { fitting, amounts } = await reservedCall({
    plans: [cheap, planFor(1), dear],
    spentUsd: 9,
  });
  expect(fitting).toEqual([cheap]);
  expect(fitting[0]).toBe(cheap);
  expect((await amounts()).reserved).toBe(toNano(usdOf(cheap)));
});

test("a call without room is refused, and nothing is reserved", async () => {
  await expect(reservedCall({ spentUsd: 10 })).rejects.toThrow("has no room for this call");
});

test("a call costs its decision, each attempt that was billed, and its reply", async () => {
  const { budget, amounts } = await reservedCall();
  for (const usd of [0.1, 0, 0.2]) await budget.addAttempt(usd);
  await budget.settle(0.3, 0.05);
  expect(await amounts()).toEqual({ reserved: 0, spent: toNano(0.65) });
});

test("a decision without a known cost counts as its estimate", async () => {
  const { budget, amounts } = await reservedCall();
  await budget.settle(0.3, null);
  expect(await amounts()).toEqual({ reserved: 0, spent: toNano(0.3 + evaluationUsd(evaluated)) });
});

test("a reply without a known cost counts as what was reserved", async () => {
  const { budget, amounts } = await reservedCall();
  await budget.settle(null, 0);
  expect(await amounts()).toEqual({ reserved: 0, spent: toNano(usdOf(dear)) });
});

test("a settled call reserves and pays nothing more", async () => {
  const { budget, amounts } = await reservedCall();
  await budget.settle(0.3, 0);
  await budget.begin(dear, conversation, () => 5);
  await budget.settle(0.3, 0);
  expect(await amounts()).toEqual({ reserved: 0, spent: toNano(0.3) });
});

test("an attempt of unknown cost counts as what was reserved", async () => {
  const { budget, amounts } = await reservedCall();
  await budget.begin(dear, conversation, () => null);
  expect(await budget.addAttempt(null)).toBe(true);
  await budget.settle(0.3, 0);
  expect((await amounts()).spent).toBeGreaterThanOrEqual(toNano(usdOf(dear)) + toNano(0.3));
});

test("a reply without a limit gets further steps before its call, if they are a small part of the room", async () => {
  const limitOf = async (spentUsd: number) => {
    const { budget, amounts } = await reservedCall({ plans: [dear], spentUsd });
    const { settings } = await budget.begin(dear, conversation, () => 0);
    const { reserved } = await amounts();
    const most = { ...expectedTokens(conversation), output: settings.maxOutputTokens ?? 0 };
    expect(reserved).toBe(toNano(evaluationUsd(evaluated) + dearestUsd(dear, most, prices)));
    return settings.maxOutputTokens;
  };
  expect(await limitOf(0)).toBe(3 * 4096); // $0.82 of $9.59 more; for four steps $1.23
  expect(await limitOf(4)).toBe(2 * 4096);
  expect(await limitOf(7)).toBe(4096);
});

test("a call whose lease ended while others took its room ends with length at its next piece", async () => {
  const path = join(await temporaryFolder(), "spend.sqlite");
  let uptimeMs = 1000;
  const opened = () => sqliteLedger(path, () => uptimeMs);
  const ledger = new Ledger(opened, { leaseMs: 60_000, now: () => Date.UTC(2026, 10, 24) });
  onTestFinished(() => ledger.close());
  const limited = { ...conversation, settings: { maxOutputTokens: 100 } };
  const budget = new CallBudget(key, { ledger, prices });
  onTestFinished(() => budget.settle(0, 0));
  await budget.reserve({ evaluatedText: evaluated, conversation: limited, plans: [dear] });
  uptimeMs += 60_000;
  const { held } = await ledger.reserve(key, [toNano(9.998)]);
  expect(held).not.toBeNull();
  const shown: unknown[] = [];
  const listener = budget.limit((part) => void shown.push(part), dear);
  const piece = [{ type: "text", key: "0", text: "a" }] as const;
  await listener(piece);
  await budget.begin(dear, limited, () => 0);
  expect(() => listener(piece)).toThrow(ReplyLimitError);
  expect(shown).toEqual([piece]);
});
