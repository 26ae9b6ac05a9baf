import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // The tests of costs and records run in this process: a started program would not be mutated.
    include: ["src/{refresh-prices,reply/usage}.test.ts", "src/{records,report}/**/*.test.ts"],
    exclude: ["src/report/main.test.ts"],
    isolate: false,
    setupFiles: ["evaluator-client/vitest-setup"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
