import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/{journal,input,output}/**/*.test.ts"],
    isolate: false,
    testTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
