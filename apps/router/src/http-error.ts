import type { ContentfulStatusCode } from "hono/utils/http-status";

/** What an HTTP error can say beside its sentence. */
interface HttpErrorDetails {
  readonly headers?: Record<string, string>;
  /** The field that is wrong, where the form of the failure has a place for it. */
  readonly param?: string;
  /** A word for programs, where the form of the failure has a place for it. */
  readonly code?: string;
}

/** A request that is answered with an error status; the message says why and what to do. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: ContentfulStatusCode;
  readonly details: HttpErrorDetails;

  constructor(status: ContentfulStatusCode, message: string, details: HttpErrorDetails = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}
