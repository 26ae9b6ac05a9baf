import { wholeReply } from "../testing/budget-router.ts";
import { artifactHash, type CalibrationArtifact } from "evaluator-calibration";
import { applyRecalibration } from "evaluator-calibration/statistics";
import { expect, test } from "vitest";
import { calibrationOf } from "../testing/calibration-of.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { defaultPolicy, testRouter } from "../testing/test-router.ts";
import { nineFields } from "../testing/read-answers.ts";
import type { MessageRecord } from "./message-record.ts";
import { printTotals } from "../report/totals.ts";

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

const promise = { maxRisk: 0.05, confidence: 0.95, level: 0.05, n: 92, wrong: 1 };

/** Returns a router that promises choices printed at a threshold and above, and its decision log. */
async function promisingRouter(threshold: number, { isCorrecting = true } = {}) {
  const correcting = calibrationOf("typesafe-ai/jev");
  const calibration: CalibrationArtifact = {
    ...correcting,
    ...(!isCorrecting && { kind: "none", parameters: {} }),
    thresholds: [{ question: "tier", action: "top", threshold, ...promise }],
  } as CalibrationArtifact;
  const records: MessageRecord[] = [];
  const { log } = await openTestLog();
  const add = (record: Parameters<typeof log.add>[0]) => {
    if ("tierUsed" in record) records.push(record);
    log.add(record);
  };
  // More than the recalibrated share of the choice, and less than the printed one.
  const policy = { ...defaultPolicy, minConfidence: 0.95 };
  const router = await testRouter({}, { calibration, policy, log: { ...log, add } });
  const readTotals = () => log.written().then(() => printTotals(log.path));
  return { ...router, records, readTotals, artifact: artifactHash(calibration) };
}

test("a promised choice is kept at any confidence, and its evidence is in the record", async () => {
  const { chat, readTotals, records, artifact } = await promisingRouter(0.97);
  const response = await chat({ message: "hi" });
  expect(response.headers.get("x-router-tier")).toBe("nano");
  expect(Object.keys((await response.json()) as object)).toEqual(nineFields);
  const evidence = { artifact, printed: 0.97, threshold: 0.97, ...promise };
  expect(records).toMatchObject([{ cause: "choice", promise: { act: "nano", evidence } }]);
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const streamed = await chat({ message: "hi" }, { headers });
  expect(await streamed.text()).toContain(`"promise":{"act":"nano","evidence":{`);
  expect(await readTotals()).toContain(
    "at most 5 % wrong at 0.97 and above, with 95 % confidence (1 of 92 labels)  2 ",
  );
});

test("a choice below the promised threshold has no promise, though its printed share is compared", async () => {
  const { chat, readTotals, records } = await promisingRouter(0.98);
  expect((await chat({ message: "hi" })).headers.get("x-router-tier")).toBe("fast");
  const none = { act: null, why: "below-threshold" };
  expect(records).toMatchObject([{ cause: "low-confidence", promise: none }]);
  expect(await readTotals()).toMatch(/none: below-threshold +1 /);
});

test("a calibration that corrects nothing promises, and keeps the service's confidence", async () => {
  const { chat, records } = await promisingRouter(0.97, { isCorrecting: false });
  expect(await (await chat({ message: "hi" })).json()).toMatchObject({ confidence: 0.96 });
  expect(records).toMatchObject([
    { probabilities: printed, printedProbabilities: null, promise: { act: "nano" } },
  ]);
});

test("without a calibration there is no promise, and the report has no table of them", async () => {
  const { log } = await openTestLog();
  const records: MessageRecord[] = [];
  const { chat } = await testRouter({}, { observe: (one) => records.push(one), log });
  await chat({ message: "hi" });
  expect(records).toMatchObject([{ promise: null }]);
  expect(await printTotals(log.path)).not.toContain("promise");
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
  const { chat, request } = await testRouter({ reply: () => wholeReply(1) });
  await chat({ message: "hi" });
  const metrics = await (await request("/metrics")).text();
  expect(metrics).not.toMatch(/router_cost_usd_total\{part="(reply|frontier)"\}/);
  expect(metrics).toContain('router_unpriced_total{part="reply"} 1\n');
});
