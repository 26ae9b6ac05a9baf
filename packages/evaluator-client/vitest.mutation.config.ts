import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Only what runs in milliseconds, as it runs for each mutant: few sockets, no simulation.
    include: [
      "src/{pacing,questions,retry,transports}/**/*.test.ts",
      "src/failures/{before-sending,deadlines,printing}.test.ts",
      "src/{check-answers*,create-evaluator,evaluation,hooks}.test.ts",
    ],
    exclude: ["src/pacing/simulation.test.ts", "src/transports/{contract,emulator}.test.ts"],
    isolate: false,
    setupFiles: ["evaluator-client/vitest-setup"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
