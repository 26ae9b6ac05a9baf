/** What a gateway error says beyond its message (field facts). */
export interface GatewayErrorDetails {
  readonly status: number;
  readonly type: string;
  readonly param?: unknown;
  /** Routing of the rejected call (contract section 7). */
  readonly providerMetadata?: unknown;
  readonly generationId?: string;
}

/** An HTTP error in the gateway's own words. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly details: GatewayErrorDetails;

  constructor(message: string, details: GatewayErrorDetails) {
    super(message);
    this.details = details;
  }

  /** Returns the response in the gateway's error shape. */
  toResponse(): Response {
    const { status, type, param, ...rest } = this.details;
    return Response.json({ error: { message: this.message, type, param }, ...rest }, { status });
  }
}

/** Returns a 400: something in the request is missing or malformed. */
export function invalidRequest(message: string): GatewayError {
  return new GatewayError(message, { status: 400, type: "invalid_request_error" });
}
