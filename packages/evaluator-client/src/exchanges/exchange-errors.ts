import { EvaluatorError } from "../errors.ts";

/** A call was replayed that no exchange in the folder answers; nothing was sent. */
export class MissingExchangeError extends EvaluatorError {
  /** The ids of the questions asked. */
  readonly questionIds: readonly string[];
  /** The digest of the request, of which the file's name holds the first digits. */
  readonly digest: string;

  constructor(message: string, details: { questionIds: readonly string[]; digest: string }) {
    super(message);
    this.questionIds = details.questionIds;
    this.digest = details.digest;
  }
}

/** An exchange could not be kept, or may not be; no file holds any of it. */
export class RecordingError extends EvaluatorError {}
