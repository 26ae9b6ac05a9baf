import { parseArgs } from "node:util";
import type { Environment } from "../options/environment.ts";
import { parseRouterOptions, type RouterOptions } from "../options/router-options.ts";
import { StartError } from "../start-error.ts";

/**
 * The router's options for a self-check: the emulator with its recordings, or with `--live` the
 * configured service.
 *
 * @throws StartError when the words mean nothing, or `--live` has no key.
 */
export function selfCheckOptions(argv: readonly string[], env: Environment): RouterOptions {
  const options = parseRouterOptions(env);
  if (!isLive(argv)) return { ...options, gateway: null };
  if (options.gateway !== null) return options;
  throw new StartError(
    "--live asks the real service: set AI_GATEWAY_API_KEY, or leave out --live.",
  );
}

function isLive(argv: readonly string[]): boolean {
  try {
    return (
      parseArgs({ args: [...argv], options: { live: { type: "boolean" } } }).values.live === true
    );
  } catch (error) {
    throw new StartError("Usage: npm run self-check -- [--live]", { cause: error });
  }
}
