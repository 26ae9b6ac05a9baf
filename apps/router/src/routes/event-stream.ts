import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import type { ClientEnv } from "./client-request.ts";

/** A server-sent event; the data is sent as JSON, a string unchanged. */
export interface ServerEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** Sends events, or text that is in the form of a stream already; waits for a slow client. */
export type EventSender = (events: readonly ServerEvent[] | string) => Promise<void> | undefined;

interface StreamOptions {
  /** A comment follows each such silence, in milliseconds; 0 for none. */
  readonly pingMs: number;
  /** Whether the silence has lasted this long already. @default false */
  readonly isSilent?: boolean;
  /** Returns the last events after a defect. */
  readonly failed: () => readonly ServerEvent[];
}

/** Answers with server-sent events, and keeps the call's slot until the last one. */
export function sendEvents(
  c: Context<ClientEnv>,
  { pingMs, isSilent = false, failed: failureEvents }: StreamOptions,
  sendAll: (sendEvent: EventSender) => Promise<void>,
): Response {
  const [slot, clientSignal] = [c.get("slot"), c.get("clientSignal")];
  const reportDefect = c.get("reportDefect");
  const { outgoing } = (c.env ?? {}) as { readonly outgoing?: ServerResponse };
  const { body, end, send } = createEventBody(outgoing, pingMs);
  corkForNow(outgoing); // the headers leave with the first events
  slot.isHeld = true;
  void (async () => {
    try {
      if (isSilent) await send(pingComment);
      await sendAll(send);
    } catch (error) {
      if (clientSignal.aborted) return;
      reportDefect(error instanceof Error ? error : new Error("Not an error was thrown."));
      await send(failureEvents());
    } finally {
      slot.release();
      end();
    }
  })();
  return c.body(body, 200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    // Otherwise the server buffers the first events to measure them; HTTP/1.0 has no chunks.
    ...(outgoing?.req.httpVersion !== "1.0" && { "Transfer-Encoding": "chunked" }),
    "X-Accel-Buffering": "no", // otherwise a proxy buffers them
  });
}

/** A comment, which clients skip; proxies cut connections that are silent for a minute. */
const pingComment = ": ping\n\n";

/** A waiting connection is written to past the stream, which would cost a fifth more (benchmark `stream`). */
function createEventBody(connection: ServerResponse | undefined, pingMs: number) {
  let isStreamOpen = true;
  let isAwaited = false;
  let freeSignal = Promise.withResolvers<void>();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (startedStream) => void (controller = startedStream),
      pull() {
        isAwaited = true; // all earlier events are written
        freeSignal.resolve();
      },
      cancel() {
        isStreamOpen = false;
        clearInterval(pingTimer);
        freeSignal.resolve();
      },
    },
    { highWaterMark: 0 }, // otherwise it would be pulled before it is read
  );
  const pingIfRead = () => {
    if (isAwaited && connection?.writableNeedDrain !== true) void send(pingComment);
  };
  const pingTimer = pingMs === 0 ? undefined : setInterval(pingIfRead, pingMs);
  const send: EventSender = (events) => {
    const eventsText = typeof events === "string" ? events : events.map(toText).join("");
    if (!isStreamOpen || eventsText === "") return undefined;
    pingTimer?.refresh();
    corkForNow(connection);
    if (isAwaited && connection !== undefined) {
      if (connection.write(eventsText)) return undefined;
      freeSignal = Promise.withResolvers();
      connection.once("drain", freeSignal.resolve);
      return freeSignal.promise;
    }
    isAwaited = false;
    freeSignal = Promise.withResolvers();
    controller.enqueue(Buffer.from(eventsText));
    return freeSignal.promise;
  };
  const end = () => {
    clearInterval(pingTimer);
    if (isStreamOpen) controller.close();
    isStreamOpen = false;
  };
  return { body, send, end };
}

/** Sends all writes of this round of the event loop in one system call. */
function corkForNow(connection: ServerResponse | undefined): void {
  const clientSocket = connection?.socket;
  if (!clientSocket || clientSocket.writableCorked > 0) return;
  clientSocket.cork();
  setImmediate(() => clientSocket.uncork());
}

function toText({ event, data }: ServerEvent): string {
  const dataJson = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${dataJson}\n\n`;
}
