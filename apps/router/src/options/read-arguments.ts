import { parseArgs } from "node:util";
import { StartError } from "../start-error.ts";
import type { Environment } from "./environment.ts";

/**
 * Reads `--host` and `--port` as the variables they stand for.
 *
 * @throws StartError with the usage when the words mean nothing.
 */
export function readArguments(argv: readonly string[]): Environment {
  try {
    const options = { host: { type: "string" }, port: { type: "string" } } as const;
    const { host, port } = parseArgs({ args: [...argv], options }).values;
    return { ...(host !== undefined && { HOST: host }), ...(port !== undefined && { PORT: port }) };
  } catch (error) {
    throw new StartError("Usage: npm start -- [--host <address>] [--port <number>]", {
      cause: error,
    });
  }
}
