import { GatewayError } from "../gateway/gateway-error.ts";
import { withHeaders, type Reply } from "../server/reply.ts";
import { isVendorPath } from "../vendor/is-vendor-path.ts";
import { VendorError } from "../vendor/vendor-error.ts";

const message = "The emulator was asked for this error.";

const gatewayTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "insufficient_funds",
  403: "forbidden",
  404: "not_found",
  424: "failed_dependency",
  429: "rate_limit_exceeded",
};

/** What a side says with a status that was asked for. */
export interface AskedStatus {
  readonly status: number;
  /** In seconds. */
  readonly retryAfter?: number | undefined;
}

/** A reply with the asked status, in the error shape of the side that owns the path. */
export function statusReply({ status, retryAfter }: AskedStatus, path: string): Reply {
  const type = gatewayTypes[status] ?? "internal_server_error";
  const reply = isVendorPath(path)
    ? withHeaders(new VendorError(status, message).toReply(), {
        "x-typesafe-request-id": "req_ASKEDFORBYTHEEMULATOR",
      })
    : new GatewayError(message, { status, type }).toReply();
  return retryAfter === undefined
    ? reply
    : withHeaders(reply, { "retry-after": String(retryAfter) });
}
