import type { Delivery } from "./call.ts";

/** Answers a request, and decides how its response is sent. */
type Answer = (request: Request, delivery: Delivery) => Promise<Response>;

/** Returns a `fetch` that answers in this process; any host will do, and a bare path. */
export function fetchBy(answer: Answer) {
  // Without it, a request is garbage while its call waits, and its signal never aborts.
  const pendingCalls = new Set<unknown>();
  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const requestTarget = input instanceof Request ? input : new URL(input, "http://127.0.0.1");
    const request = new Request(requestTarget, init);
    request.signal.throwIfAborted();
    const delivery: Delivery = { ending: "whole", hasResponse: true };
    const pendingCall = [input, request];
    pendingCalls.add(pendingCall);
    try {
      return await deliver(await answer(request, delivery), request.signal, delivery);
    } finally {
      pendingCalls.delete(pendingCall);
    }
  };
}

/** Returns a delivery as `fetch` shows it: a response, a rejection, or a body that breaks off. */
async function deliver(
  response: Response,
  signal: AbortSignal,
  { ending, hasResponse }: Delivery,
): Promise<Response> {
  if (ending === "hang") return await untilAborted(signal);
  if (!hasResponse) throw new TypeError("fetch failed", { cause: systemError("ECONNRESET") });
  if (ending === "whole" || response.body === null) return response;
  const { half } = await toHalf(response);
  const errorCode = ending === "cut" ? "UND_ERR_SOCKET" : "ECONNRESET";
  return new Response(brokenBody(half, errorCode), response);
}

/** Waits until a signal aborts, and rejects with its reason. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const rejectWithReason = () => reject(signal.reason as Error);
    if (signal.aborted) rejectWithReason();
    else signal.addEventListener("abort", rejectWithReason, { once: true });
  });
}

/** Returns whether a response is a stream of server-sent events. */
export function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type") === "text/event-stream";
}

const encoder = new TextEncoder();

/** Returns the first half of a body, in bytes or in the events of a stream, and the length of all of it. */
export async function toHalf(response: Response) {
  const bodyText = await response.text();
  const bodyBytes = encoder.encode(bodyText);
  const streamEvents = bodyText.split(/(?<=\n\n)/).filter((event) => event.endsWith("\n\n"));
  const firstHalf =
    isEventStream(response) && streamEvents.length > 0
      ? encoder.encode(streamEvents.slice(0, streamEvents.length / 2).join(""))
      : bodyBytes.subarray(0, bodyBytes.length / 2);
  return { half: firstHalf, length: bodyBytes.length };
}

function brokenBody(halfBytes: Uint8Array, errorCode: string): ReadableStream<Uint8Array> {
  const remainingChunks = [halfBytes];
  return new ReadableStream({
    pull(controller) {
      const nextChunk = remainingChunks.pop();
      if (nextChunk !== undefined && nextChunk.length > 0) controller.enqueue(nextChunk);
      else controller.error(new TypeError("terminated", { cause: systemError(errorCode) }));
    },
  });
}

function systemError(code: string): Error {
  return Object.assign(new Error("The emulator broke the connection."), { code });
}
