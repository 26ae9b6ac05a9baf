import { fileURLToPath } from "node:url";
import { CliError, type CliContext } from "evaluator-kit";

/** The folder of the recorded exchanges in `fixtures`. */
export const exchangesFolder = fileURLToPath(import.meta.resolve("evaluator-fixtures/exchanges"));

/** What a run that asks a live service takes from the machine it is on. */
export interface LiveContext extends CliContext {
  /** Sends the requests. */
  readonly fetch: typeof globalThis.fetch;
  /** How long one request may take, its body included, in milliseconds. */
  readonly timeoutMs: number;
  /** Where the exchanges to ask are. */
  readonly exchangesFolder: string;
}

/** A run that cannot start; its message says why and what to do, and holds no key. */
export class NotRunError extends CliError {
  constructor(message: string) {
    super(message, { exitCode: 2 });
  }
}

/** An answer that cannot be used; its message says why and repeats nothing the service said. */
export class UnusableAnswerError extends Error {
  override readonly name = "UnusableAnswerError";
}

/** Returns the context of a program that asks over the network. */
export function toLiveContext(context: CliContext): LiveContext {
  return { ...context, fetch, timeoutMs: 30_000, exchangesFolder };
}
