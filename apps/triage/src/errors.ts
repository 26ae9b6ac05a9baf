import { CliError, exitCodes } from "evaluator-cli-kit";

export { CliError as TriageError, UsageError } from "evaluator-cli-kit";

/** The person ended the run; what became of it is the message. */
export class InterruptedError extends CliError {
  /** @param signal - Tells Ctrl-C from an end by the system. */
  constructor(message: string, signal?: AbortSignal) {
    const reason: unknown = signal?.reason;
    const exitCode = reason instanceof CliError ? reason.exitCode : exitCodes.interrupted;
    super(message, { exitCode });
  }
}
