import type { ContentfulStatusCode } from "hono/utils/http-status";

/** What a refusal can say beside its sentence. */
interface RefusalDetails {
  readonly headers?: Record<string, string>;
  /** The field that is wrong, where the form of the failure has a place for it. */
  readonly param?: string;
  /** A word for programs, where the form of the failure has a place for it. */
  readonly code?: string;
}

/** A request that is not served; the message says in a sentence why and what to do. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: ContentfulStatusCode;
  readonly details: RefusalDetails;

  constructor(status: ContentfulStatusCode, message: string, details: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}
