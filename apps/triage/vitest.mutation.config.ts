import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // No browser, no killed processes: each mutant runs what runs over it, in this process.
    include: ["src/{import,input}/**/*.test.ts"],
    // These read or unpack hundreds of megabytes, or wait for another process, with each mutant.
    exclude: ["src/input/changed-input.test.ts"],
    testNamePattern: /^(?!a record larger than any mail|a .* that grows as no mail does)/,
    // Loaded before any test: what a first test loads as it goes would count as run by that test alone.
    setupFiles: ["src/import/import-mails.ts"],
    isolate: false,
    testTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
