import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // No browser, no killed processes: each mutant runs what runs over it, in this process.
    include: [
      "src/{journal,output}/**/*.test.ts",
      "src/explain.test.ts",
      "src/run/{resume,triage-file}.test.ts",
    ],
    isolate: false,
    testTimeout: 120_000,
    setupFiles: ["evaluator-fixtures/vitest-setup"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
