import type { Answer } from "./test-gateway.ts";

const noUsage = { inputTokens: {}, outputTokens: {} };

function finishWith(usage: object): object {
  return { type: "finish", finishReason: { unified: "stop" }, usage };
}

function eventOf(part: object): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`data: ${JSON.stringify(part)}\n\n`);
}

function deltaOf(delta: string): object {
  return { type: "text-delta", id: "0", delta };
}

/** A streamed reply of the given pieces and tokens, as the gateway sends it; a cut one breaks off. */
export function replyStream(
  deltas: readonly string[],
  { isCut = false, usage = noUsage } = {},
): Response {
  const parts = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "0" },
    ...deltas.map(deltaOf),
    ...(isCut ? [{ type: "error", error: "The provider went away." }] : []),
    ...(isCut ? [] : [{ type: "text-end", id: "0" }, finishWith(usage)]),
  ];
  const body = new Blob(parts.map(eventOf)).stream();
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** An upstream that sends what a test tells it to, and says when it is reached and let go. */
export function heldReply() {
  const reached = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>();
  const writer = writable.getWriter();
  void writer.write(eventOf({ type: "text-start", id: "0" })).catch(() => undefined);
  const answer: Answer = ({ signal }) => {
    signal.addEventListener("abort", () => {
      ended.resolve();
      void writer.abort(signal.reason).catch(() => undefined);
    });
    reached.resolve();
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  };
  return {
    answer,
    reached: reached.promise,
    /** Resolves when the router ends the call. */
    ended: ended.promise,
    send: (text: string) => void writer.write(eventOf(deltaOf(text))).catch(() => undefined),
    finish: () => {
      void writer.write(eventOf({ type: "text-end", id: "0" })).catch(() => undefined);
      void writer.write(eventOf(finishWith(noUsage))).catch(() => undefined);
      void writer.close().catch(() => undefined);
    },
  };
}
