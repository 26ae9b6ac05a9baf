import { join } from "node:path";
import { defineConfig } from "vitest/config";

// On a real Dovecot: `npm run test:imap`.
export default defineConfig({
  root: join(import.meta.dirname, "../../../.."),
  test: {
    include: ["apps/triage/tests/imap/*.test.ts"],
    globalSetup: [join(import.meta.dirname, "start-server.ts")],
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
