import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import type { ClientEnv } from "./client-request.ts";

/** Sends one server-sent event, and waits while the client reads slower than the events come. */
export type SendEvent = (data: unknown, event?: string) => Promise<void> | undefined;

/** Answers with server-sent events, and keeps the call's slot until the last one is out. */
export function sendEvents(
  c: Context<ClientEnv>,
  run: (send: SendEvent) => Promise<void>,
  onFailure: (error: unknown, send: SendEvent) => Promise<void> | void,
): Response {
  const { slot, clientSignal } = c.var;
  slot.hold();
  const { body, send, end } = createEventBody(connectionOf(c));
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
    "Transfer-Encoding": "chunked", // or the server would hold back the first events to measure them
    "X-Accel-Buffering": "no", // or a proxy in between would collect them
  });
}

/** The response of Node's server; null where the application is asked without one. */
function connectionOf({ env }: Context): ServerResponse | null {
  return (env as { readonly outgoing?: ServerResponse } | undefined)?.outgoing ?? null;
}

/**
 * One stream between the sender and the connection. While the connection waits for more of it, an
 * event is written past it: through it, each small event costs a fifth more (benchmark `stream`).
 */
function createEventBody(connection: ServerResponse | null) {
  let isOpen = true;
  let isAwaited = false;
  let room = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (started) => void (controller = started),
      pull() {
        isAwaited = true; // whatever came before is written
        room.resolve();
      },
      cancel() {
        isOpen = false; // what is still sent goes nowhere
        room.resolve();
      },
    },
    { highWaterMark: 0 }, // or it would be pulled before it is read
  );
  const send: SendEvent = (data, event) => {
    if (!isOpen) return undefined;
    const json = typeof data === "string" ? data : JSON.stringify(data);
    const text = `${event === undefined ? "" : `event: ${event}\n`}data: ${json}\n\n`;
    if (isAwaited && connection !== null) {
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
