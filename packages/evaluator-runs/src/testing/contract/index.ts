import { describe } from "vitest";
import { testAnswers } from "./answers-contract.ts";
import { testChunks } from "./chunks-contract.ts";
import { answersOf } from "./answers-under-test.ts";
import { testKeptAnswers } from "./kept-answers-contract.ts";
import { testLateWorkers } from "./late-workers-contract.ts";
import { testMoney } from "./money-contract.ts";
import { testNews } from "./news-contract.ts";
import { testRows } from "./rows-contract.ts";
import { testRuns } from "./runs-contract.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export type { StoreUnderTest } from "./store-under-test.ts";

/**
 * Tests everything that workers rely on in a store of runs.
 *
 * @param open - Opens an empty store for one test.
 * @param options - `hasClock`: the store has `passTime` and `stepClock`.
 */
export function testRunStore(
  open: () => Promise<StoreUnderTest>,
  options: { readonly hasClock: boolean },
): void {
  // A store is opened before each test of its own part.
  describe("runs", () => {
    testRuns(open);
  });
  describe("news", () => {
    testNews(open);
  });
  describe("late workers", () => {
    testLateWorkers(open);
  });
  describe("answers", () => {
    testAnswers(open);
  });
  describe("journals", () => {
    testKeptAnswers(async () => answersOf(await open()));
  });
  describe("rows", () => {
    testRows(async () => answersOf(await open()));
  });
  describe("money", () => {
    testMoney(open);
  });
  describe("chunks", () => {
    testChunks(open, options);
  });
}
