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
 * A run that cannot go on, for a reason a person can change. Its message says what, where and the
 * next step, and holds no key and nobody's text; it is all that is printed.
 */
export class CliError extends Error {
  /** What the program ends with. @default 1 */
  readonly exitCode: number;

  constructor(message: string, options: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }
}

/** Words that mean nothing to the program; how to ask for its usage is printed under the message. */
export class UsageError extends CliError {}

/** The reason of a program's signal after Ctrl-C or SIGTERM. */
export class InterruptedError extends CliError {
  constructor(signal: "SIGINT" | "SIGTERM") {
    const exitCode = signal === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated;
    super("Interrupted.", { exitCode });
  }
}
