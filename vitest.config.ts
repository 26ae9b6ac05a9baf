import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{packages,apps}/*/src/**/*.test.ts", "fixtures/src/**/*.test.ts"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
