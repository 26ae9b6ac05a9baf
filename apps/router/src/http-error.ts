import type { ContentfulStatusCode } from "hono/utils/http-status";

/** Further parts of an HTTP error; OpenAI's form has a field for `param` and `code`. */
interface HttpErrorDetails {
  readonly headers?: Record<string, string>;
  /** When to try again; null if the router has retried, so that a retry only costs. */
  readonly retryAfter?: string | null | undefined;
  /** The wrong field. */
  readonly param?: string;
  /** Its place, whose names may have any characters. */
  readonly path?: readonly (string | number)[];
  readonly code?: string;
}

/** The answer to a client after an unexpected error. */
export const defectMessage = "The router failed; its console shows where.";

/** A request that is answered with an error status; the message gives the reason and the next step. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  /** 529 is an overloaded service: 503 outside of Anthropic's API. */
  readonly status: ContentfulStatusCode | 529;
  readonly details: HttpErrorDetails;

  constructor(status: HttpError["status"], message: string, details: HttpErrorDetails = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}
