import { join } from "node:path";
import { defineConfig } from "vitest/config";

// The programs as people start them, here and installed: `npm run test:programs`.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: [join(import.meta.dirname, "../install-nodes.ts")],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
