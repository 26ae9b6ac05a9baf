import { defineConfig } from "vitest/config";

// Programs of other languages, installed in a folder outside the checkout: `npm run test:peers -- [file]`.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["verbose"],
  },
});
