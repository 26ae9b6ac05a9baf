/** A request body that cannot be read; the message never repeats it. */
export class UnreadableBody extends Error {
  override readonly name = "UnreadableBody";
  /** 413 when it is too large, else 400. */
  readonly status: 400 | 413;

  constructor(message: string, status: 400 | 413 = 400) {
    super(message);
    this.status = status;
  }
}
