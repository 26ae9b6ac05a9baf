import { testAnswers } from "./answers-contract.ts";
import { testChunks } from "./chunks-contract.ts";
import { testRuns } from "./runs-contract.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export type { StoreUnderTest } from "./store-under-test.ts";

/**
 * Tests everything that workers rely on in a store of runs; called inside `describe`.
 *
 * @param open - Opens an empty store for one test.
 * @param options - `hasClock`: the store has `passTime` and `stepClock`.
 */
export function testRunStore(
  open: () => Promise<StoreUnderTest>,
  options: { readonly hasClock: boolean },
): void {
  testRuns(open);
  testAnswers(open);
  testChunks(open, options);
}
