import { type ProgramContext, openRuns, openTransport, withoutKeys } from "evaluator-runs/commands";

type Services = Pick<ProgramContext, "openTransport" | "openCatalog" | "openRuns" | "mayCost">;
type ServiceOptions = Parameters<Services["openTransport"]>[0];

/** The services of runs: the typed engine, or the emulator in this process. */
export const runServices: Services = {
  openTransport: async (options) =>
    options.offline === true ? await openTransport(options) : (await engineOf(options)).transport,
  async openCatalog(options) {
    if (options.offline === true) return null;
    const { catalogOf } = await import("./engine.ts");
    // A price is worth a short wait, and no run fails for want of it.
    const limits = { env: options.env, maxRetries: 0, deadlineMs: 3000 };
    return catalogOf(await engineOf(options), limits);
  },
  openRuns,
  mayCost: async (options) => options.offline !== true && !(await engineOf(options)).isFree,
};

// Loaded late: with it the client is loaded, which --help does without.
async function engineOf({ engine, dryRun, env }: ServiceOptions) {
  const { readEngine } = await import("./engine.ts");
  return readEngine(engine, dryRun === true ? await withoutKeys(env) : env);
}
