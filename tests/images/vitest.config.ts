import { join } from "node:path";
import { defineConfig } from "vitest/config";

// The images of the Dockerfiles, built and started without Docker: `npm run test:images`.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: [join(import.meta.dirname, "base-image.ts")],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
