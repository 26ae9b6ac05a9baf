import { expect, test } from "vitest";
import { decisionFor } from "../testing/upstreams.ts";
import { testRouter } from "../testing/test-router.ts";
import type { TierFit } from "./decision.ts";

/** A fit that sends messages with proofs to frontier. */
const decide: TierFit["decide"] = (text, probabilities) => {
  const isHard = text.includes("prove") || probabilities?.frontier === 1;
  return isHard ? { tier: "frontier", gain: 0.5 } : { tier: "nano", gain: 0 };
};

async function decideBy(fit: TierFit, message: string) {
  const asked: unknown[] = [];
  const answer = decisionFor("frontier");
  const evaluation = () => {
    asked.push(null);
    return Response.json(answer);
  };
  const { request } = await testRouter({ evaluation }, { fit });
  const response = await request("/decide", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message }),
  });
  return { asked: asked.length, decision: (await response.json()) as object };
}

test.each([
  ["prove it", "frontier"],
  ["hi", "nano"],
])("a fit without probabilities decides %j for %s, and no evaluation is asked", async (...row) => {
  const [message, tierUsed] = row;
  const { asked, decision } = await decideBy({ needsEvaluation: false, decide }, message);
  expect(asked).toBe(0);
  expect(decision).toMatchObject({ tierUsed, cause: "fit", tierChosen: null, costUsd: null });
});

test("a fit with probabilities decides by those of the evaluation", async () => {
  const { asked, decision } = await decideBy({ needsEvaluation: true, decide }, "hi");
  expect(asked).toBe(1);
  expect(decision).toMatchObject({ tierUsed: "frontier", cause: "fit", tierChosen: "frontier" });
});
