import type { Call } from "./call.ts";

/** One response, before a wire sends it. */
export interface Reply {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** A whole body, or the chunks of a stream. */
  readonly body: string | readonly string[];
}

/** Answers a call. */
export type Handler = (call: Call) => Reply | Promise<Reply>;

/** A reply with a JSON body. */
export function jsonReply(
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Reply {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** The reply with further headers, which win over its own. */
export function withHeaders(reply: Reply, headers: Readonly<Record<string, string>>): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}
