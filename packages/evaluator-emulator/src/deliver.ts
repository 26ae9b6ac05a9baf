import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "./call.ts";

// A reset right behind the bytes would make the receiver drop them unread. Chosen, not measured.
const beforeResetMs = 50;

/** Returns the first half of a body, in bytes or in the events of a stream. */
export function halfOf(body: string, contentType = ""): Buffer {
  const events = contentType === "text/event-stream" ? eventsOf(body) : [];
  if (events.length > 0) return Buffer.from(events.slice(0, events.length / 2).join(""));
  const bytes = Buffer.from(body);
  return bytes.subarray(0, bytes.length / 2);
}

function eventsOf(body: string): string[] {
  return body.split(/(?<=\n\n)/).filter((event) => event.endsWith("\n\n"));
}

/** Sends a response on the connection of its request, broken where the delivery says so. */
export async function deliverOverHttp(
  response: Response,
  outgoing: ServerResponse,
  { ending, hasResponse }: Delivery,
): Promise<void> {
  if (ending === "hang") return;
  if (!hasResponse) return void outgoing.socket?.resetAndDestroy();
  if (ending === "whole") return await sendWhole(response, outgoing);
  await sendHalf(response, outgoing);
  if (ending === "cut") return void outgoing.socket?.end();
  await sleep(beforeResetMs);
  outgoing.socket?.resetAndDestroy();
}

/**
 * Returns what `fetch` would show of a delivery: a response, a rejection, or a body that breaks
 * off.
 */
export async function deliverByFetch(
  response: Response,
  signal: AbortSignal,
  { ending, hasResponse }: Delivery,
): Promise<Response> {
  if (ending === "hang") return await rejectOnAbort(signal);
  if (!hasResponse) throw new TypeError("fetch failed", { cause: systemError("ECONNRESET") });
  if (ending === "whole" || response.body === null) return response;
  const half = halfOf(await response.text(), contentTypeOf(response));
  const code = ending === "cut" ? "UND_ERR_SOCKET" : "ECONNRESET";
  return new Response(brokenBody(half, code), response);
}

async function sendWhole(response: Response, outgoing: ServerResponse): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  if (contentTypeOf(response) !== "text/event-stream") {
    const bytes = Buffer.from(await response.arrayBuffer());
    outgoing.writeHead(response.status, { ...headers, "content-length": bytes.length }).end(bytes);
    return;
  }
  outgoing.writeHead(response.status, headers);
  for await (const chunk of response.body ?? []) outgoing.write(chunk);
  outgoing.end();
}

/** Announces the whole body and sends half of it. */
async function sendHalf(response: Response, outgoing: ServerResponse): Promise<void> {
  const contentType = contentTypeOf(response);
  const headers = Object.fromEntries(response.headers);
  const text = await response.text();
  const length =
    contentType === "text/event-stream" ? {} : { "content-length": Buffer.byteLength(text) };
  outgoing.writeHead(response.status, { ...headers, ...length });
  await new Promise<void>((resolve) => {
    outgoing.write(halfOf(text, contentType), () => resolve());
  });
}

function contentTypeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function brokenBody(half: Buffer, code: string): ReadableStream<Uint8Array> {
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
