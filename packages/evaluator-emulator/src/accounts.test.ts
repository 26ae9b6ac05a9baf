import { expect, test } from "vitest";
import { createAccountBook, type Tier } from "./accounts.ts";
import { type CatalogModel, models, picodollarsPerDollar } from "./catalog.ts";

const freeTierBurst = 3;
const freeModel = modelWhere((model) => model.isOnFreeTier);
const paidModel = modelWhere((model) => !model.isOnFreeTier);

function modelWhere(matches: (model: CatalogModel) => boolean): CatalogModel {
  const model = models.find(matches);
  if (model === undefined) throw new Error("The price list lacks such a model.");
  return model;
}

function createAccount(tier: Tier, balanceUsd?: number) {
  const setup = { key: "k", ...(balanceUsd !== undefined && { balanceUsd }) };
  const account = createAccountBook(tier, [setup]).find("k");
  if (account === null) throw new Error("The key is not accepted.");
  return account;
}

test("a burst of at least two calls passes, then the model is rate limited", () => {
  const account = createAccount("free");
  const outcomes = Array.from({ length: freeTierBurst + 1 }, () =>
    account.rejectionOf(freeModel, 1000),
  );
  expect(freeTierBurst).toBeGreaterThanOrEqual(2);
  expect(outcomes.slice(0, -1).every((outcome) => outcome === null)).toBe(true);
  expect(outcomes.at(-1)).toBe("rate-limited");
});

test("the limit is lifted when the minute has passed", () => {
  const account = createAccount("free");
  for (let call = 0; call < freeTierBurst; call += 1) account.rejectionOf(freeModel, 0);
  expect(account.rejectionOf(freeModel, 59_999)).toBe("rate-limited");
  expect(account.rejectionOf(freeModel, 60_000)).toBeNull();
});

test("models outside the subset are rejected on the free tier only", () => {
  expect(createAccount("free").rejectionOf(paidModel, 0)).toBe("no-access");
  expect(createAccount("paid").rejectionOf(paidModel, 0)).toBeNull();
});

test("the paid tier has no rate limit", () => {
  const account = createAccount("paid");
  const outcomes = Array.from({ length: 100 }, () => account.rejectionOf(freeModel, 0));
  expect(outcomes.every((outcome) => outcome === null)).toBe(true);
});

test.each([
  ["free", 5, 10, 20],
  ["paid", 20, 30, 40],
] as const)(
  "of a %s account with %d dollars the first purchase of 10 leaves %d, the next %d",
  (tier, balanceUsd, first, second) => {
    const account = createAccount(tier, balanceUsd);
    account.topUp(10);
    expect(account).toMatchObject({ tier: "paid", balance: first * picodollarsPerDollar });
    account.topUp(10);
    expect(account.balance).toBe(second * picodollarsPerDollar);
  },
);

test("what a free account owes stays owed", () => {
  const account = createAccount("free", -1);
  account.topUp(10);
  expect(account.balance).toBe(9 * picodollarsPerDollar);
});
