import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { root: import.meta.dirname, testTimeout: 300_000, hookTimeout: 300_000 },
});
