import { env } from "node:process";
import { defineConfig } from "vitest/config";
import { compileCache } from "evaluator-kit/compile-cache";

// For the workers, and for the programs that tests start with the whole environment.
Object.assign(env, compileCache);

export default defineConfig({
  test: {
    include: ["{packages,apps}/*/src/**/*.test.ts", "tests/*.test.ts"],
    globalSetup: ["evaluator-kit/unpack-browser"],
    setupFiles: ["evaluator-client/vitest-setup"],
    // Each worker loads all modules anew, and starts a browser of its own; what tests wait for is
    // filled by the workspaces that run beside. Only triage and runs have two, as they have the most to do and
    // would end last.
    isolate: false,
    maxWorkers: 1,
    // Node imports TypeScript by itself, as it does for users: in a fresh clone nothing has to be
    // transformed first. `test:repository` goes without, because vitest sets the condition
    // `development`, under which one library there is TypeScript that Node does not take.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A limit for what hangs, not for what is slow: a busy machine takes ten times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    reporters: ["minimal"],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
