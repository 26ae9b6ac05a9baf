import type { Context } from "hono";
import type { ClientEnv } from "./guards.ts";

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
  const { body, send, end } = createEventBody();
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

/** One stream between the sender and the connection; each further one costs every small event more. */
function createEventBody() {
  let isOpen = true;
  let room = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (started) => void (controller = started),
    pull: () => room.resolve(),
    cancel() {
      isOpen = false; // what is still sent goes nowhere
      room.resolve();
    },
  });
  const send: SendEvent = (data, event) => {
    if (!isOpen) return undefined;
    const text = typeof data === "string" ? data : JSON.stringify(data);
    const name = event === undefined ? "" : `event: ${event}\n`;
    controller.enqueue(Buffer.from(`${name}data: ${text}\n\n`));
    if ((controller.desiredSize ?? 0) > 0) return undefined;
    room = Promise.withResolvers();
    return room.promise;
  };
  const end = () => {
    if (isOpen) controller.close();
    isOpen = false;
  };
  return { body, send, end };
}
