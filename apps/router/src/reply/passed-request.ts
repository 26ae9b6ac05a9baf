import { HttpError } from "../http-error.ts";
import type { ClientApiType } from "../conversation/upstream-types.ts";
import type { Upstream } from "./upstream.ts";

/** A client's request that an upstream of the same API takes unchanged. */
export interface PassedRequest {
  /** The type of an upstream that takes the body unchanged. */
  readonly upstreamType: ClientApiType;
  /** The text of the body. */
  readonly json: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Thrown unless an upstream takes the body unchanged, for a field that the conversation cannot hold. */
  readonly unsupported: HttpError | null;
  /** Whether it has addresses of the router's own network, which are not for other services. */
  readonly isLocal?: boolean;
  /** Returns a header of the client. */
  readonly header?: (headerName: string) => string | undefined;
}

/** Whether an upstream takes a request's body unchanged. */
export function takesBody(
  upstream: Upstream,
  passedRequest: Pick<PassedRequest, "upstreamType" | "isLocal">,
): boolean {
  return (
    upstream.type === passedRequest.upstreamType &&
    (upstream.isLocal || passedRequest.isLocal !== true)
  );
}

/** Returns the error of a request that no service takes, with the names of the services. */
export function refusalBy(services: readonly string[], { status, message, details }: HttpError) {
  const upstreamNames = `The upstream${services.length > 1 ? "s" : ""} ${services.join(", ")}`;
  return new HttpError(
    status,
    message.replace("This router", () => upstreamNames),
    details,
  );
}
