interface GatewayErrorDetails {
  readonly status: number;
  readonly type: string;
  readonly param?: unknown;
  /** Routing of the rejected call (contract section 7). */
  readonly providerMetadata?: unknown;
  readonly generationId?: string;
}

/** An HTTP error in the gateway's own shape (field facts). */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly details: GatewayErrorDetails;

  constructor(message: string, details: GatewayErrorDetails) {
    super(message);
    this.details = details;
  }

  toResponse(): Response {
    const { status, type, param, ...rest } = this.details;
    return Response.json({ error: { message: this.message, type, param }, ...rest }, { status });
  }
}

/** Returns a 400: a part of the request is missing or malformed. */
export function invalidRequest(message: string): GatewayError {
  return new GatewayError(message, { status: 400, type: "invalid_request_error" });
}
