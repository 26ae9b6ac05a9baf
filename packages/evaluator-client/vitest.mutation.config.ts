import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "src/{failures,http,pacing,questions,retry,transports}/**/*.test.ts",
      "src/create-evaluator.test.ts",
    ],
    // It takes seconds for each mutant; the unit tests beside it stand in for it.
    exclude: ["src/pacing/simulation.test.ts"],
    setupFiles: ["evaluator-fixtures/vitest-setup"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
