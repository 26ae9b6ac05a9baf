/** What is wrong with one field, as the vendor lists it; it echoes the input (field fact). */
export interface FieldError {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
  readonly input: unknown;
}

/** The vendor's three kinds of error detail: words, a named error, or a list of field errors. */
export type VendorErrorDetail =
  | string
  | { readonly error_type: string; readonly message?: string }
  | readonly FieldError[];

/** An HTTP error in the vendor's own shape. */
export class VendorError extends Error {
  override readonly name = "VendorError";
  readonly status: number;
  readonly detail: VendorErrorDetail;
  /** In seconds, or null. */
  readonly retryAfter: number | null;

  constructor(status: number, detail: VendorErrorDetail, retryAfter: number | null = null) {
    super(typeof detail === "string" ? detail : `The vendor answers ${status}.`);
    this.status = status;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }

  /** Returns the response in the vendor's error shape. */
  toResponse(): Response {
    const headers = this.retryAfter === null ? {} : { "retry-after": String(this.retryAfter) };
    return Response.json({ detail: this.detail }, { status: this.status, headers });
  }
}

/**
 * Returns whether an address is the vendor's: all under `/direct`, and its evaluation at the root.
 */
export function isVendorPath(path: string): boolean {
  return path.startsWith("/direct/") || path === "/v1/systemone";
}
