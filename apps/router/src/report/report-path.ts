import { type Environment, trimEnvironment } from "../options/environment.ts";
import { StartError } from "../start-error.ts";

/**
 * The decision log to report on: the one named, else the router's own.
 *
 * @throws StartError when neither says which.
 */
export function reportPath(argv: readonly string[], env: Environment): string {
  const [named, ...others] = argv;
  const path = named ?? trimEnvironment(env)["ROUTER_DECISION_LOG"];
  if (path !== undefined && !path.startsWith("-") && others.length === 0) return path;
  throw new StartError(
    "Usage: npm run router:report -- [<decision log>]; without one, ROUTER_DECISION_LOG names it.",
  );
}
