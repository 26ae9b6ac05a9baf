/** A request that cannot be answered. The message never quotes the body. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;
  /** The answer, if the side that is called does not give the message its own form. */
  readonly response: Response | null;

  constructor(message: string, status = 400, response: Response | null = null) {
    super(message);
    this.status = status;
    this.response = response;
  }
}

interface GatewayErrorDetails {
  readonly status: number;
  readonly type: string;
  readonly param?: unknown;
  /** Routing of the rejected call (contract section 7). */
  readonly providerMetadata?: unknown;
  readonly generationId?: string;
}

/** Returns an error in the gateway's own shape (field facts). */
export function gatewayError(
  message: string,
  { status, type, param, ...rest }: GatewayErrorDetails,
): RequestError {
  const body = { error: { message, type, param }, ...rest };
  return new RequestError(message, status, Response.json(body, { status }));
}

/**
 * Returns an error in the vendor's own shape.
 *
 * @param detail - Words, a named error, or a list of field errors with the rejected values (field facts).
 */
export function vendorError(
  status: number,
  detail: string | object,
  headers: Record<string, string> = {},
): RequestError {
  const message = `The vendor answers ${status}.`;
  return new RequestError(message, status, Response.json({ detail }, { status, headers }));
}
