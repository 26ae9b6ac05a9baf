import { boolean } from "evaluator-client";
import { expect, test } from "vitest";
import { printTotals } from "../report/totals.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import {
  type Fault,
  instructions,
  promised,
  questions,
  state,
  twoServices,
} from "../testing/two-services.ts";

const lose: Fault = (response) => void response.socket?.destroy();
const refuse: Fault = (response) => void response.writeHead(400).end("{}");

const routed = { step: 2, service: "typesafe", model: "large", isSure: null, failure: null };
const own = { step: 1, service: "typesafe", model: "small", isSure: true, failure: null };

test("the second service is asked about the unsure answers alone, and body, log and budget have both", async () => {
  const { ask, first, second, records, spent, billedNano } = await twoServices();
  const { body } = await ask();
  expect([first.asked, second.asked]).toEqual([[["scam", "kind"]], [["scam"]]]);
  expect(body).toMatchObject({
    model: "small, large",
    answers: { scam: { noul: 0.99 }, kind: { probabilities: { prize: 0.9 } } },
    x_route: { scam: routed, kind: own },
    usage: { cost: billedNano() / 1e9 },
  });
  expect(records).toMatchObject([
    {
      outcome: "answered",
      service: "typesafe",
      route: { scam: routed, kind: own },
      steps: [
        { answers: 1, costUsd: first.billedNano / 1e9 },
        { answers: 1, costUsd: second.billedNano / 1e9 },
      ],
      evaluationUsd: billedNano() / 1e9,
      attempts: 2,
    },
  ]);
  expect(JSON.stringify(records)).not.toContain("lottery");
  const { log } = await openTestLog();
  for (const record of records) log.add(record);
  await log.written();
  expect(await printTotals(log.path)).toMatch(
    /Step 1, typesafe small: 1 answer in 1 call, \$0\.\d+\. Step 2, typesafe large: 1 answer in 1 call, \$0\.\d+\. How many are wrong is not known/,
  );
  expect(await spent()).toMatchObject({ dayNano: billedNano(), reservedNano: 0 });
});

test("other forms say who answered too", async () => {
  const { ask } = await twoServices();
  const predicate = { type: "predicate", name: "scam", instructions };
  const listed = await ask("/v1/decisions", { model: "m", input: state, questions: [predicate] });
  expect(listed.body.x_route).toEqual([routed]);
  const asked = { state, questions: { scam: boolean(instructions) } };
  const gateway = await ask("/v4/ai/decision-model", asked);
  expect(gateway.body).toMatchObject({ providerMetadata: { router: { route: { scam: routed } } } });
});

test.each([
  ["0.55", 0],
  ["0.2..0.5", 0],
  ["0.2..0.8", 1],
  [["0.95", "scam=0.5"], 1], // the other question is at 0.9
  ["other=0.9", 0],
])("with the bound %j %d calls go to the second service", async (unsure, count) => {
  const { ask, second } = await twoServices({ unsure });
  await ask();
  expect(second.asked).toHaveLength(count);
});

test("an answer that reaches no promised threshold is asked again, and has no promise of the first", async () => {
  const unsure = "calibration";
  const low = await twoServices({ unsure, calibrations: [promised] });
  const { headers, body } = await low.ask();
  expect(low.second.asked).toEqual([["scam"]]);
  expect(body).toMatchObject({ x_route: { scam: routed, kind: { step: 1, isSure: null } } });
  expect(headers.get("x-router-promise")).toMatch(
    /^scam: none, the calibration is of another model;/,
  );
  const thresholds = [{ ...promised.thresholds[0], threshold: 0.6 }] as never;
  const kept = await twoServices({ unsure, calibrations: [{ ...promised, thresholds }] });
  const { headers: promise } = await kept.ask();
  expect(kept.second.asked).toEqual([]);
  expect(promise.get("x-router-promise")).toMatch(/^scam: act yes at 0\.60: at most 5 % wrong/);
  const none = await twoServices({ unsure });
  expect((await none.ask()).body).not.toHaveProperty("x_route");
});

test("a second service that fails leaves the first answer with its mark, and a lost answer is charged", async () => {
  for (const [fault, count] of [
    [refuse, 1],
    [lose, 9],
  ] as const) {
    const { ask, second, first, spent, records } = await twoServices();
    second.faults.push(...Array<Fault>(count).fill(fault));
    const { status, body } = await ask();
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { model: "small", answers: { scam: { noul: 0.6 } } },
    });
    const failure = fault === refuse ? "StatusError" : "ConnectionError";
    expect(body.x_route).toMatchObject({ scam: { ...own, isSure: false, failure } });
    expect(records).toMatchObject([
      { outcome: "answered", model: "small", route: { scam: { failure } } },
    ]);
    const { dayNano, reservedNano } = await spent();
    expect(reservedNano).toBe(0);
    // A refused attempt is free; of a lost one nothing is known, so it counts as the most that it may cost.
    const leastNano = first.billedNano + (fault === lose ? second.billedNano : 0);
    const mostNano = fault === lose ? Infinity : leastNano;
    expect(dayNano).toBeGreaterThanOrEqual(leastNano);
    expect(dayNano).toBeLessThanOrEqual(mostNano);
  }
});

test("a hundred calls at once with lost answers at both never pass the budget", async () => {
  const { ask, first, second, spent, billedNano } = await twoServices({ usdPerDay: 0.2 });
  first.faults.push(...Array<Fault>(5).fill(lose));
  second.faults.push(...Array<Fault>(5).fill(lose));
  const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await ask()).status));
  const { dayNano, reservedNano } = await spent();
  expect(reservedNano).toBe(0);
  expect(billedNano()).toBeLessThanOrEqual(dayNano);
  expect(dayNano).toBeLessThanOrEqual(200_000_000);
  expect(second.asked.length).toBeGreaterThan(5);
  expect(new Set(statuses)).toContain(429);
});

test("a call reserves an attempt of both services before anything is asked", async () => {
  const { services } = await twoServices();
  const request = { state, questions: { scam: boolean(instructions) } };
  const most = services.decisions.current.list.map(({ mostCostOf }) => mostCostOf(request) ?? 0);
  const bothUsd = most.reduce((sum, usd) => sum + usd, 0);
  const ask = async (usdPerDay: number) => {
    const { ask: send, first, second } = await twoServices({ usdPerDay });
    const { status } = await send("/v1/systemone", { state, questions: { scam: questions.scam } });
    return [status, first.asked.length, second.asked.length];
  };
  expect(await ask(bothUsd - 1e-6)).toEqual([429, 0, 0]);
  expect(await ask(bothUsd + 1e-6)).toEqual([200, 1, 1]);
});

test("if the first service fails, the next one answers alone", async () => {
  const { ask, first, second } = await twoServices();
  first.faults.push((response) => void response.end("{}"));
  const { body } = await ask();
  expect(body).toMatchObject({ model: "large", answers: { scam: { noul: 0.99 } } });
  expect(second.asked).toEqual([["scam", "kind"]]);
});

test("of two equal calls at once, the one that joins pays no lost answer of the other", async () => {
  const { ask, second, records, spent } = await twoServices({
    env: { ROUTER_DECISION_CACHE: "60" },
  });
  second.faults.push(...Array<Fault>(3).fill(lose));
  const [one, other] = await Promise.all([ask(), ask()]);
  expect([one.status, other.status, second.asked.length]).toEqual([200, 200, 3]);
  const paid = records.filter(({ evaluationUsd }) => evaluationUsd !== 0);
  expect(paid).toMatchObject([{ isCached: false, evaluationUsd: null }]);
  const alone = await twoServices();
  alone.second.faults.push(...Array<Fault>(3).fill(lose));
  await alone.ask();
  expect((await spent()).dayNano).toBe((await alone.spent()).dayNano);
});

test("a call that joins another one at the next service pays nothing, though it asked the first one", async () => {
  const { ask, first, second, records, spent } = await twoServices({
    env: { ROUTER_DECISION_CACHE: "60" },
  });
  const deny: Fault = (response) => void response.writeHead(401).end("{}");
  const gate = Promise.withResolvers<void>();
  first.faults.push(deny, deny);
  second.faults.push((response) => void gate.promise.then(() => lose(response)), lose, lose);
  const one = ask();
  await expect.poll(() => second.asked.length).toBe(1);
  const other = ask();
  await expect.poll(() => first.asked.length).toBe(2);
  gate.resolve();
  await Promise.all([one, other]);
  expect(second.asked).toHaveLength(3);
  const costs = records.map(({ evaluationUsd }) => evaluationUsd);
  expect(new Set(costs)).toEqual(new Set([0, null]));
  const alone = await twoServices();
  alone.first.faults.push(deny);
  alone.second.faults.push(...Array<Fault>(3).fill(lose));
  await alone.ask();
  expect((await spent()).dayNano).toBe((await alone.spent()).dayNano);
});

test("an answer without a price and lost ones of the second service are charged as the most of each, once", async () => {
  const { ask, first, second, services, spent } = await twoServices();
  const answers = { scam: { type: "noul", noul: 0.6 } };
  first.faults.push((response) => void response.end(JSON.stringify({ model: "small", answers })));
  second.faults.push(...Array<Fault>(3).fill(lose));
  const asked = { state, questions: { scam: questions.scam } };
  expect((await ask("/v1/systemone", asked)).status).toBe(200);
  const request = { state, questions: { scam: boolean(instructions) } };
  const most = services.decisions.current.list.map(({ mostCostOf }) => mostCostOf(request) ?? 0);
  const [own = 0, again = 0] = most;
  expect((await spent()).dayNano / 1e9).toBeCloseTo(own + 3 * again, 8);
});
