import type { Environment } from "evaluator-kit";
import { readRouterConfig } from "./config/router-config.ts";
import { parseRouterOptions } from "./router-options.ts";

/** Reads the options of the variables and of the file of `ROUTER_CONFIG`. @throws CliError with the place. */
export async function readRouterOptions(env: Environment, cwd: string) {
  return parseRouterOptions(env, await readRouterConfig(env, cwd));
}
