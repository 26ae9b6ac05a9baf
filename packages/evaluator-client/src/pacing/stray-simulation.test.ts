import { expect, test } from "vitest";
import type { ServiceLimit } from "../testing/limited-service.ts";
import { simulateBatch, simulatePlainLoop } from "../testing/simulation.ts";

const strays: ServiceLimit = {
  limit: 1,
  windowMs: 1000,
  kind: "none",
  saysWhen: true,
  strays: 0.05,
};

test.each([
  { concurrency: 8, seed: 1 },
  { concurrency: 16, seed: 2 },
  { concurrency: 16, seed: 3 },
  { concurrency: 32, seed: 4 },
])("a batch is hardly held up by 5 % of stray 429s ($concurrency at once)", async (load) => {
  const items = 5000;
  const plain = await simulatePlainLoop(strays, { items, ...load });
  const { totals, elapsedMs } = await simulateBatch(strays, { items, ...load });
  expect(totals).toMatchObject({ succeeded: items, failed: 0 });
  expect(plain.elapsedMs / elapsedMs).toBeGreaterThan(0.8);
});
