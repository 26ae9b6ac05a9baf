import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { post, gatewayAnswer, map, predicate, state } from "../testing/evaluation-calls.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { testRouter } from "../testing/test-router.ts";
import { printTotals } from "./totals.ts";

async function loggedRouter(parts: object = {}) {
  const { log } = await openTestLog();
  const evaluation = () => Response.json(gatewayAnswer());
  const router = await testRouter({ evaluation }, { log, ...parts });
  await post(router, "/v1/systemone", { state, questions: map });
  await post(router, "/v1/decisions", { input: state, questions: [predicate] }); // too many answers
  await log.written();
  return { ...router, log };
}

test("the page of decisions lists calls with own questions by kinds and outcomes, and filters them", async () => {
  const { request } = await loggedRouter();
  const page = await (await request("/decisions")).text();
  expect(page).toContain("<code>systemone</code>");
  expect(page).toContain("1 boolean, 1 choice, 1 score: answered");
  expect(page).toContain("1 boolean: failed");
  expect(page).not.toContain("lottery");
  const json = await (await request("/decisions.json?endpoint=systemone")).json();
  expect(json).toMatchObject({
    messages: [
      {
        endpoint: "systemone",
        outcome: "answered",
        costUsd: 0.0000021,
        tier: null,
        kinds: "1 boolean, 1 choice, 1 score",
      },
    ],
  });
  const { messages } = json as { messages: { requestId: string }[] };
  const one = await (await request(`/decisions/${messages[0]?.requestId}`)).text();
  expect(one).toContain("<dd>gateway</dd>");
  expect(one).toContain("The log holds no text.");
  expect(one).not.toContain("Thumb up");
});

test("the spending and the report count them apart, and they cost no savings", async () => {
  const { request, log } = await loggedRouter();
  const spend = await (await request("/spend")).text();
  expect(spend).toContain("2 calls with own questions: $0.0000021 and one unknown cost.");
  expect(spend).toContain("Spend by endpoint");
  const report = await printTotals(log.path);
  expect(report).toMatch(/systemone +0 +\$0 +\$0 +1 +\$0.0000021 +0 +–/);
  expect(report).not.toContain("no records");
});

test("a step of unknown cost is named beside the sum of the others", async () => {
  const { log } = await loggedRouter();
  const [line = ""] = (await readFile(log.path, "utf8")).split("\n");
  const [first, ...later] = [0.01, null, 0.02].map((costUsd, at) => {
    const step = { service: "typesafe", model: "large", answers: 1, costUsd };
    return JSON.stringify({ ...JSON.parse(line), requestId: `r${at}`, steps: [step] });
  });
  await writeFile(log.path, [first, ...later, ""].join("\n"));
  const report = await printTotals(log.path);
  expect(report).toContain(
    "Step 1, typesafe large: 3 answers in 3 calls, $0.03 and one unknown cost.",
  );
});

test("metrics count them by endpoint, outcome and service", async () => {
  const { request } = await loggedRouter();
  const metrics = await (await request("/metrics")).text();
  const one = 'endpoint="systemone",outcome="answered",service="gateway"';
  expect(metrics).toContain(`router_evaluations_total{${one}} 1`);
  expect(metrics).toContain('router_cost_usd_total{part="evaluation"} 0.0000021');
  expect(metrics).toContain('router_unpriced_total{part="evaluation"} 1');
  expect(metrics).not.toContain("router_messages_total{");
});

test("the log has states and answers only if texts may be logged", async () => {
  const silent = await loggedRouter();
  expect(await readFile(silent.log.path, "utf8")).not.toContain("lottery");
  const { log } = await loggedRouter({ hasLogText: true });
  const [line = ""] = (await readFile(log.path, "utf8")).split("\n");
  expect(JSON.parse(line)).toMatchObject({ state, answers: { scam: { probability: 0.25 } } });
});
