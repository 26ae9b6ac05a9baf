import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import type { ClientEnv } from "./client-env.ts";

/** Sends one server-sent event; a name of its own is optional. */
export type SendEvent = (data: unknown, event?: string) => Promise<void>;

/** Answers with server-sent events, and keeps the call's place until the last one is out. */
export function sendEvents(
  c: Context<ClientEnv>,
  run: (send: SendEvent) => Promise<void>,
  onFailure: (error: unknown, send: SendEvent) => Promise<void> | void,
): Response {
  const { slot, clientSignal } = c.var;
  slot.hold();
  c.header("X-Accel-Buffering", "no"); // a proxy in between would collect the events
  return streamSSE(c, async (stream) => {
    const send: SendEvent = (data, event) => {
      const text = typeof data === "string" ? data : JSON.stringify(data);
      return stream.writeSSE(event === undefined ? { data: text } : { event, data: text });
    };
    try {
      await run(send);
    } catch (error) {
      if (!clientSignal.aborted) await onFailure(error, send);
    } finally {
      slot.release();
    }
  });
}
