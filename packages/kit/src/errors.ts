/** What a program ends with. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 64,
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
export class UsageError extends CliError {
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, { ...options, exitCode: exitCodes.usage });
  }
}

/** The reason of a program's signal after Ctrl-C or SIGTERM. */
export class InterruptedError extends CliError {
  constructor(signal: "SIGINT" | "SIGTERM") {
    const exitCode = signal === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated;
    super("Interrupted.", { exitCode });
  }
}
