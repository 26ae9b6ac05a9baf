/** The vendor's three kinds of error detail: words, a named error, or a list of field errors. */
type VendorErrorDetail =
  | string
  | { readonly error_type: string; readonly message?: string }
  | readonly {
      readonly loc: readonly (string | number)[];
      readonly msg: string;
      readonly type: string;
      /** The rejected value (field fact). */
      readonly input: unknown;
    }[];

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

  toResponse(): Response {
    const headers = this.retryAfter === null ? {} : { "retry-after": String(this.retryAfter) };
    return Response.json({ detail: this.detail }, { status: this.status, headers });
  }
}
