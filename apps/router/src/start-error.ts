/** The router cannot start as it is set up; the message is one line that says what to do. */
export class StartError extends Error {
  override readonly name = "StartError";
}
