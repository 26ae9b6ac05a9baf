import { createEvaluator, gatewayTransport } from "evaluator-client";
import { expect, test } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";
import { budgetRouter } from "../testing/budget-router.ts";
import { servicesOver } from "../testing/test-router.ts";
import { decisionFor, testGateway } from "../testing/upstreams.ts";
import { toNano } from "./budget-state.ts";
import { evaluationUsd } from "./call-price.ts";

/** A router that asks for a decision up to three times, each time with the next answer. */
async function budgetRouterWithRetries(answers: readonly (() => Response)[]) {
  const left = [...answers];
  const evaluation = () => left.shift()?.() ?? Response.json(decisionFor("nano"));
  const { fetch } = testGateway({ evaluation });
  const baseUrl = "http://gateway.invalid/v4/ai";
  const transport = gatewayTransport({ apiKey: "a-key", baseUrl, fetch, env: {} });
  const evaluator = createEvaluator({ transport, maxRetries: 2 }, { random: () => 0 });
  const records: MessageRecord[] = [];
  const parts = { services: { ...servicesOver(fetch), evaluator } };
  const observe = (record: MessageRecord) => records.push(record);
  return { ...(await budgetRouter(1, {}, { ...parts, observe })), records };
}

const isLost = () => new Response(""); // an empty body after a 200
const isRejected = () => Response.json({ error: { message: "later" } }, { status: 500 });

test.each([
  ["answered after one lost attempt", [isLost], 200, 2],
  ["answered after a rejected attempt", [isRejected], 200, 1],
  ["rejected after one lost attempt", [isLost, isRejected, isRejected], 502, 1],
  ["lost each time", [isLost, isLost, isLost], 502, 3],
])("a decision that is %s is charged for each attempt", async (_, answers, status, times) => {
  const router = await budgetRouterWithRetries(answers);
  expect((await router.post("/decide", { message: "hi" })).status).toBe(status);
  const { dayNano, reservedNano } = await router.spent();
  expect({ dayNano, reservedNano }).toEqual({
    dayNano: toNano(times * evaluationUsd("hi")),
    reservedNano: 0,
  });
});

test("the log has the expected cost of a decision that was lost before, as the budget has", async () => {
  const priced = () =>
    Response.json(
      decisionFor("nano", { providerMetadata: { gateway: { marketCost: "0.00001" } } }),
    );
  const router = await budgetRouterWithRetries([isLost, priced]);
  expect((await router.post("/decide", { message: "hi" })).status).toBe(200);
  const [record] = router.records;
  expect(record?.isEstimate).toBe(true);
  expect(record?.decisionCostUsd).toBeCloseTo(0.00001 + evaluationUsd("hi"), 12);
  const { dayNano } = await router.spent();
  expect(dayNano).toBe(toNano(0.00001 + evaluationUsd("hi")));
});
