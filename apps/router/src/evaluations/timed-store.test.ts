import type { Evaluation } from "evaluator-client";
import { expect, test } from "vitest";
import { timedStore } from "./timed-store.ts";

const evaluation = { modelId: "a" } as Evaluation;

test("an answer is kept for its seconds, and the oldest of a thousand is removed", async () => {
  let nowMs = 0;
  const store = timedStore(2, () => nowMs);
  await store.set("a", evaluation);
  nowMs = 1999;
  expect(store.get("a")).toBe(evaluation);
  nowMs = 2000;
  expect(store.get("a")).toBeUndefined();
  for (let each = 0; each <= 1000; each += 1) await store.set(String(each), evaluation);
  expect(store.get("0")).toBeUndefined();
  expect(store.get("1")).toBe(evaluation);
});
