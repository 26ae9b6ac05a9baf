import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "{packages,apps}/*/src/**/*.test.ts",
      "fixtures/src/**/*.test.ts",
      "tests/**/*.test.ts",
    ],
    globalSetup: ["evaluator-fixtures/unpack-browser"],
    setupFiles: ["evaluator-fixtures/vitest-setup"],
    reporters: ["minimal"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
