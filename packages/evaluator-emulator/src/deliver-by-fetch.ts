import type { Delivery } from "./call.ts";

/** Answers a request, and decides how its response is sent. */
type Answer = (request: Request, delivery: Delivery) => Promise<Response>;

/** Returns a `fetch` that answers in this process; any host will do, and a bare path. */
export function fetchBy(answer: Answer) {
  // Without it, a request is garbage while its call waits, and its signal never aborts.
  const underWay = new Set<unknown>();
  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const target = input instanceof Request ? input : new URL(input, "http://127.0.0.1");
    const request = new Request(target, init);
    request.signal.throwIfAborted();
    const delivery: Delivery = { ending: "whole", hasResponse: true };
    const call = [input, request];
    underWay.add(call);
    try {
      return await deliver(await answer(request, delivery), request.signal, delivery);
    } finally {
      underWay.delete(call);
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
  const code = ending === "cut" ? "UND_ERR_SOCKET" : "ECONNRESET";
  return new Response(brokenBody(half, code), response);
}

/** Waits until a signal aborts, and rejects with its reason. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}

/** Returns whether a response is a stream of server-sent events. */
export function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type") === "text/event-stream";
}

const encoder = new TextEncoder();

/** Returns the first half of a body, in bytes or in the events of a stream, and the length of all of it. */
export async function toHalf(response: Response) {
  const text = await response.text();
  const bytes = encoder.encode(text);
  const events = text.split(/(?<=\n\n)/).filter((event) => event.endsWith("\n\n"));
  const half =
    isEventStream(response) && events.length > 0
      ? encoder.encode(events.slice(0, events.length / 2).join(""))
      : bytes.subarray(0, bytes.length / 2);
  return { half, length: bytes.length };
}

function brokenBody(half: Uint8Array, code: string): ReadableStream<Uint8Array> {
  const chunks = [half];
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
