import type { ServerResponse } from "node:http";
import type { Answer } from "./upstreams.ts";

const noUsage = { inputTokens: {}, outputTokens: {} };
const events = { "content-type": "text/event-stream" };

/** Returns one event of a streamed reply, as the gateway sends it. */
export function eventOf(part: object): string {
  return `data: ${JSON.stringify(part)}\n\n`;
}

/** Returns one piece of a streamed reply's text. */
export function deltaOf(delta: string): string {
  return eventOf({ type: "text-delta", id: "0", delta });
}

const begin = eventOf({ type: "text-start", id: "0" });

function endWith(usage: object): string {
  const finish = { type: "finish", finishReason: { unified: "stop" }, usage };
  return eventOf({ type: "text-end", id: "0" }) + eventOf(finish);
}

/** Begins a streamed reply on a real connection. */
export function beginStream(response: ServerResponse): void {
  response.writeHead(200, events).write(begin);
}

/**
 * Returns a streamed reply of the given pieces and tokens, each a chunk of its own; a cut one
 * breaks off.
 */
export function replyStream(
  deltas: readonly string[],
  { isCut = false, usage = noUsage } = {},
): Response {
  const end = isCut ? eventOf({ type: "error", error: "The provider went away." }) : endWith(usage);
  const start = eventOf({ type: "stream-start", warnings: [] });
  return new Response(new Blob([start, begin, ...deltas.map(deltaOf), end]).stream(), {
    headers: events,
  });
}

/** Returns an upstream that sends what a test wants, and says when it is reached and let go. */
export function heldReply() {
  const reached = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const { readable, writable } = new TextEncoderStream();
  const writer = writable.getWriter();
  const write = (text: string) => void writer.write(text).catch(() => undefined);
  write(begin);
  const answer: Answer = ({ signal }) => {
    signal.addEventListener("abort", () => {
      ended.resolve();
      void writer.abort(signal.reason).catch(() => undefined);
    });
    reached.resolve();
    return new Response(readable, { headers: events });
  };
  return {
    answer,
    reached: reached.promise,
    /** Resolves when the router ends the call. */
    ended: ended.promise,
    send: (text: string) => write(deltaOf(text)),
    finish: () => {
      write(endWith(noUsage));
      void writer.close().catch(() => undefined);
    },
  };
}
