import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import type { ClientEnv } from "./client-request.ts";

/** Sends one server-sent event, and waits for a slow client. */
export type SendEvent = (data: unknown, event?: string) => Promise<void> | undefined;

/** Answers with server-sent events, and keeps the call's slot until the last one. */
export function sendEvents(
  c: Context<ClientEnv>,
  run: (send: SendEvent) => Promise<void>,
  onFailure: (error: unknown, send: SendEvent) => Promise<void> | void,
): Response {
  const { slot, clientSignal } = c.var;
  const { outgoing } = (c.env ?? {}) as { readonly outgoing?: ServerResponse };
  const { body, send, end } = createEventBody(outgoing);
  slot.isHeld = true;
  void (async () => {
    try {
      await run(send);
    } catch (error) {
      if (!clientSignal.aborted) await onFailure(error, send);
    } finally {
      slot.release();
      end();
    }
  })();
  return c.body(body, 200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "Transfer-Encoding": "chunked", // otherwise the server buffers the first events to measure them
    "X-Accel-Buffering": "no", // otherwise a proxy buffers them
  });
}

/**
 * While the connection waits for more, an event is written past the stream, which would cost a fifth
 * more (benchmark `stream`).
 */
function createEventBody(connection: ServerResponse | undefined) {
  let isOpen = true;
  let isAwaited = false;
  let room = Promise.withResolvers<void>();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (started) => void (controller = started),
      pull() {
        isAwaited = true; // all earlier events are written
        room.resolve();
      },
      cancel() {
        isOpen = false;
        room.resolve();
      },
    },
    { highWaterMark: 0 }, // otherwise it would be pulled before it is read
  );
  const send: SendEvent = (data, event) => {
    if (!isOpen) return undefined;
    const json = typeof data === "string" ? data : JSON.stringify(data);
    const text = `${event === undefined ? "" : `event: ${event}\n`}data: ${json}\n\n`;
    if (isAwaited && connection !== undefined) {
      if (connection.write(text)) return undefined;
      room = Promise.withResolvers();
      connection.once("drain", room.resolve);
      return room.promise;
    }
    isAwaited = false;
    room = Promise.withResolvers();
    controller.enqueue(Buffer.from(text));
    return room.promise;
  };
  const end = () => {
    if (isOpen) controller.close();
    isOpen = false;
  };
  return { body, send, end };
}
