import { join } from "node:path";
import { defineConfig } from "vitest/config";

// On a real PostgreSQL: `npm run test:postgres`.
export default defineConfig({
  root: join(import.meta.dirname, "../../.."),
  test: {
    include: ["{packages/{evaluator-runs,simulation},apps/triage}/tests/*.test.ts"],
    globalSetup: [join(import.meta.dirname, "start-server.ts")],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
