import { join } from "node:path";
import { defineConfig } from "vitest/config";

// All published packages from their tarballs: `npm run test:release`, a part of it `npm run test:packages`.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: [
      join(import.meta.dirname, "install-packages.ts"),
      join(import.meta.dirname, "../install-nodes.ts"),
      join(import.meta.dirname, "../../packages/evaluator-runs/tests/start-server.ts"),
    ],
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
