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

test("the oldest answers are removed if all of them are too long", async () => {
  const store = timedStore(2, () => 0);
  const long = { modelId: "a".repeat(12 * 1024 * 1024) } as Evaluation;
  for (const key of ["a", "b", "b", "c"]) await store.set(key, long);
  expect([store.get("a"), store.get("b"), store.get("c")]).toEqual([undefined, long, long]);
  await store.set("d", { modelId: "a".repeat(33 * 1024 * 1024) } as Evaluation);
  expect(["b", "c", "d"].map((key) => store.get(key))).toEqual([undefined, undefined, undefined]);
});
