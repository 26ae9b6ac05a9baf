import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    // One engine at a time, each in a process of its own: it is native code.
    pool: "forks",
    fileParallelism: false,
    testTimeout: 120_000,
  },
});
