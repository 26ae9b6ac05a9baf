import { defineConfig } from "vitest/config";

// The built site of docs/ in a browser: `npm run test:docs`.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: ["evaluator-kit/unpack-browser"],
    testTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
