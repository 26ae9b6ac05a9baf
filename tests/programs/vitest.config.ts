import { join } from "node:path";
import { defineConfig } from "vitest/config";

// The programs of this repository as people start them, and on each promised Node: `npm run test:programs`.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: [join(import.meta.dirname, "../install-nodes.ts")],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
