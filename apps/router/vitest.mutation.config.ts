import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // What the money and the books are tested by, in this process: a program would not be mutated.
    include: ["src/{refresh-prices,reply/tokens}.test.ts", "src/{records,report}/**/*.test.ts"],
    exclude: ["src/report/main.test.ts"],
    isolate: false,
    setupFiles: ["evaluator-client/vitest-setup"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
