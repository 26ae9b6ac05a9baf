import { join } from "node:path";
import { boolean, ConnectionError, mostCostUsd, type Transport } from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { openJournal, readAnswers, type RunOptions, runRecords } from "./index.ts";

const questions = { scam: boolean("Is it a scam?") };
const records = ["t-1", "t-2", "t-3"].map((id) => ({ id, state: { text: `letter ${id}` } }));
const bounds = { scam: { below: 0.8 } };
const lost = new ConnectionError("Cut.", { isRetryable: true, maybeBilled: true });

/** A transport that bills the most that an attempt may cost, also if its answer is lost. */
function billing(name: string, inputUsdPerMillionTokens: number, probability: number) {
  const price = { inputUsdPerMillionTokens };
  const billed = { usd: 0, attempts: 0, losses: 0 };
  const transport: Transport = {
    name,
    target: { url: `https://${name}.example/v1`, modelId: name },
    async send(request) {
      const costUsd = mostCostUsd(request, price);
      billed.usd += costUsd;
      billed.attempts += 1;
      if (billed.losses > 0) {
        billed.losses -= 1;
        throw lost;
      }
      const answers = { scam: { type: "boolean", probability } };
      const response = { answers, usage: { inputTokens: 100, outputTokens: 0 } };
      return { response, modelId: name, requestId: null, raw: null, costUsd };
    },
  };
  const most = records.map((record) => mostCostUsd({ state: record.state, questions }, price));
  return {
    transport,
    billed,
    mostUsd: most[0] ?? 0,
    usdPerMillionTokens: inputUsdPerMillionTokens,
  };
}

async function twoEngines() {
  const first = billing("cheap", 1, 0.6);
  const second = billing("dear", 20, 0.99);
  const path = join(await temporaryFolder(), "letters.sqlite");
  const { transport, usdPerMillionTokens } = first;
  const next = { ...second, bounds };
  const run = async (options: Partial<RunOptions>) => {
    using journal = openJournal(path, { questions, transport, next });
    const both = { journal, transport, next, usdPerMillionTokens };
    // No wait before a retry.
    return await runRecords(records, { ...both, ...options }, { random: () => 0 });
  };
  const billedUsd = () => first.billed.usd + second.billed.usd;
  return { first, second, run, billedUsd, path, eachUsd: first.mostUsd + second.mostUsd };
}

test("a record reserves both engines, so that a cap holds and each that is asked is asked twice", async () => {
  const { first, second, run, billedUsd, eachUsd } = await twoEngines();
  // Less than two records: the second one may not begin with its first engine alone.
  const maxCostUsd = 1.99 * eachUsd;
  const outcome = await run({ maxCostUsd, concurrency: 3 });
  expect(outcome).toMatchObject({ answered: 1, isBudgetSpent: true });
  expect([first.billed.attempts, second.billed.attempts]).toEqual([1, 1]);
  expect(outcome.costUsd).toBeCloseTo(billedUsd(), 9);
  // The same command again has the same cap.
  expect(await run({ maxCostUsd })).toMatchObject({ answered: 0, isBudgetSpent: true });
  expect(await run({ maxCostUsd: 3.01 * eachUsd })).toMatchObject({ answered: 2 });
  expect(billedUsd()).toBeCloseTo(3 * eachUsd, 9);
});

test.each(["first", "second"] as const)(
  "lost attempts of the %s engine never pass the cap",
  async (which) => {
    for (const share of [1, 1.5, 2.2, 3.4, 5]) {
      const engines = await twoEngines();
      engines[which].billed.losses = 3;
      const maxCostUsd = share * engines.eachUsd;
      await engines.run({ maxCostUsd, concurrency: 2 });
      await engines.run({ maxCostUsd, concurrency: 2 });
      expect(engines.billedUsd()).toBeLessThanOrEqual(maxCostUsd + 1e-12);
    }
  },
);

test("an answer that the cap lets no second engine see is asked for again", async () => {
  const { second, run, path, eachUsd } = await twoEngines();
  second.billed.losses = 1;
  const outcome = await run({ maxCostUsd: 1.01 * eachUsd });
  expect(outcome).toMatchObject({ answered: 0, failed: 0, isBudgetSpent: true });
  expect([...readAnswers(path)]).toEqual([]);
  expect(await run({})).toMatchObject({ answered: 3, failed: 0 });
  const answered = [...readAnswers(path)];
  expect(answered.map(({ evaluation }) => evaluation.route?.["scam"]?.step)).toEqual([2, 2, 2]);
});

test("a cap needs the price of both", async () => {
  const { first, second, path } = await twoEngines();
  const { transport, usdPerMillionTokens } = first;
  const next = { transport: second.transport, bounds };
  using journal = openJournal(path, { questions, transport, next });
  const asking = { journal, transport, next, usdPerMillionTokens, maxCostUsd: 1 };
  await expect(runRecords(records, asking)).rejects.toThrow(
    "needs a price; set usdPerMillionTokens",
  );
});
