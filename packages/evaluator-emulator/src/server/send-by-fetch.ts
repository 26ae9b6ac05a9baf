import type { Delivery } from "./delivery.ts";
import { halfOf } from "./half-of.ts";
import type { Reply } from "./reply.ts";

// Statuses that a Response refuses to give a body.
const bodylessStatuses = new Set([204, 205, 304]);

/** Plays a delivery as `fetch` would show it: a response, a rejection, or a body that breaks off. */
export async function sendByFetch(
  { method, signal }: { readonly method: string; readonly signal: AbortSignal },
  { reply, ending }: Delivery,
): Promise<Response> {
  if (ending === "hang") return rejectOnAbort(signal);
  if (reply === null) throw new TypeError("fetch failed", { cause: systemError("ECONNRESET") });
  const { status, headers } = reply;
  if (method === "HEAD" || bodylessStatuses.has(status)) {
    return new Response(null, { status, headers });
  }
  const cause = ending === "cut" ? "UND_ERR_SOCKET" : "ECONNRESET";
  const body = ending === "whole" ? wholeBody(reply) : brokenBody(reply, cause);
  return new Response(body, { status, headers });
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function wholeBody({ body }: Reply): string | ReadableStream<Uint8Array> {
  if (typeof body === "string") return body;
  return ReadableStream.from(body.map((chunk) => Buffer.from(chunk)));
}

function brokenBody({ body }: Reply, code: string): ReadableStream<Uint8Array> {
  const chunks = [halfOf(body)];
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.pop();
      if (chunk !== undefined && chunk.length > 0) controller.enqueue(chunk);
      else controller.error(new TypeError("terminated", { cause: systemError(code) }));
    },
  });
}

function systemError(code: string): Error {
  return Object.assign(new Error("The emulator broke the connection."), { code });
}
