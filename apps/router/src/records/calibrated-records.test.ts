import { applyRecalibration } from "evaluator-calibration/statistics";
import { expect, test } from "vitest";
import { calibrationOf } from "../testing/calibration-of.ts";
import { defaultPolicy, testRouter } from "../testing/test-router.ts";
import type { MessageRecord } from "../message-router.ts";

const printed = { nano: 0.97, fast: 0.02, balanced: 0, frontier: 0 };
const shares = applyRecalibration(Object.values(printed), {
  kind: "temperature",
  parameters: { temperature: 2 },
});
const corrected = Object.fromEntries(
  Object.keys(printed).map((tier, index) => [tier, shares[index]]),
);

async function routerOf(modelId: string, policy = defaultPolicy) {
  const records: MessageRecord[] = [];
  const observe = (record: MessageRecord) => records.push(record);
  const calibration = calibrationOf(modelId);
  return { records, ...(await testRouter({}, { observe, calibration, policy })) };
}

test("calibrated and printed probabilities are both in the record and in the decision", async () => {
  const { records, chat, request } = await routerOf("typesafe-ai/jev");
  const answer = (await (await chat({ message: "hi" })).json()) as object;
  expect(answer).toMatchObject({ tier: "nano", probabilities: corrected, confidence: null });
  expect(records).toMatchObject([
    {
      outcome: "replied",
      evaluatorModelId: "typesafe-ai/jev",
      wire: "emulator gateway http://gateway.invalid/v4/ai",
      questionHash: expect.stringMatching(/^[\w-]{43}$/),
      probabilities: corrected,
      printedProbabilities: printed,
      confidence: null,
    },
  ]);
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: '{"message":"hi"}' };
  expect(await (await request("/decide", init)).json()).toMatchObject({
    probabilities: corrected,
    printedProbabilities: printed,
  });
});

test("the least confidence is compared with the choice's calibrated probability", async () => {
  const { nano = 0 } = corrected;
  for (const [minConfidence, tier] of [
    [nano - 0.01, "nano"],
    [nano + 0.01, "fast"],
  ] as const) {
    const { chat } = await routerOf("typesafe-ai/jev", { ...defaultPolicy, minConfidence });
    expect((await chat({ message: "hi" })).headers.get("x-router-tier")).toBe(tier);
  }
});

test("another model than the calibration's is an error that is sent, whose decision is paid for", async () => {
  const { records, chat, request } = await routerOf("typesafe-ai/jev-2");
  const response = await chat({ message: "hi" });
  expect(response.status).toBe(502);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toEqual({
    error:
      "The calibration was made for typesafe-ai/jev-2, and typesafe-ai/jev answered. Calibrate again on its answers. Until then, start this router without ROUTER_CALIBRATION.",
  });
  expect(records).toMatchObject([
    {
      outcome: "no-decision",
      failure: "UnfitCalibrationError",
      evaluatorModelId: "typesafe-ai/jev",
      evaluationId: expect.any(String),
      decisionMs: expect.any(Number),
      decisionCostUsd: expect.any(Number),
      probabilities: null,
      tierUsed: null,
    },
  ]);
  const metrics = await (await request("/metrics")).text();
  expect(metrics).toMatch(/router_cost_usd_total\{part="decision"\} 0\.0000\d/);
});

test("where a tier is named for failures it is taken, with the mismatch as the cause", async () => {
  const policy = { ...defaultPolicy, failureTier: "balanced" } as const;
  const { records, chat } = await routerOf("typesafe-ai/jev-2", policy);
  const response = await chat({ message: "hi" });
  expect(response.headers.get("x-router-cause")).toBe("calibration-mismatch");
  expect(records).toMatchObject([
    { tierChosen: null, tierUsed: "balanced", probabilities: null, printedProbabilities: null },
  ]);
  expect(records[0]?.decisionCostUsd).toBeGreaterThan(0);
});

test("what no service prices is missing from the costs, and counted", async () => {
  const { chat, request } = await testRouter();
  await chat({ message: "hi" });
  const metrics = await (await request("/metrics")).text();
  expect(metrics).not.toMatch(/router_cost_usd_total\{part="(reply|frontier)"\}/);
  expect(metrics).toContain('router_unpriced_total{part="reply"} 1\n');
});
