/** The exit codes of every program. `docs/exit-codes.md` explains them to users. */
export const exitCodes = {
  done: 0,
  /** Wrong input, wrong words or a failure. */
  failed: 1,
  /** Done, but some records have no answer. */
  unanswered: 2,
  notEnoughEvidence: 3,
  interrupted: 130,
  terminated: 143,
} as const;

/**
 * A failure that a person can fix. Only its message is printed: problem, place and next step,
 * without keys or personal data.
 */
export class CliError extends Error {
  /** The exit code. @default 1 */
  readonly exitCode: number;

  constructor(message: string, options: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }
}

/** Wrong words; `runCommand` adds the command that prints the help. */
export class UsageError extends CliError {}

/** The reason of a program's signal after Ctrl-C or SIGTERM. */
export class InterruptedError extends CliError {
  constructor(signal: "SIGINT" | "SIGTERM") {
    const exitCode = signal === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated;
    super("Interrupted.", { exitCode });
  }
}
