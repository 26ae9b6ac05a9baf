/** A run that cannot go on; its message says what, where and the next step, and holds no mail text. */
export class TriageError extends Error {
  /** What the process ends with. */
  readonly exitCode: number = 1;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The command was typed in a way that means nothing. */
export class UsageError extends TriageError {
  override readonly exitCode = 64;
}

/** The person ended the run. */
export class InterruptedError extends TriageError {
  override readonly exitCode = 130;
}
