/** A request that cannot be answered. The message never quotes the body. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;
  /** The answer, if the side that is called does not give the message its own form. */
  readonly response: Response | null;

  constructor(message: string, statusCode = 400, response: Response | null = null) {
    super(message);
    this.status = statusCode;
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
  const errorBody = { error: { message, type, param }, ...rest };
  return new RequestError(message, status, Response.json(errorBody, { status }));
}

/**
 * Returns an error in the vendor's own shape.
 *
 * @param detail - Words, a named error, or a list of field errors with the rejected values (field facts).
 */
export function vendorError(
  statusCode: number,
  detail: string | object,
  headers: Record<string, string> = {},
): RequestError {
  const message = `The vendor answers ${statusCode}.`;
  return new RequestError(
    message,
    statusCode,
    Response.json({ detail }, { status: statusCode, headers }),
  );
}
