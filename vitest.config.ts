import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{packages,apps}/*/src/**/*.test.ts", "fixtures/src/**/*.test.ts", "tests/*.test.ts"],
    globalSetup: ["evaluator-fixtures/unpack-browser"],
    setupFiles: ["evaluator-fixtures/vitest-setup"],
    // Many tests wait for processes and sockets, so more run at once than there are cores.
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ["minimal"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
