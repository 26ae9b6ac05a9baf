import type { Deliver } from "../server/delivery.ts";
import type { Handler } from "../server/reply.ts";
import type { FaultBook } from "./fault-book.ts";
import { playFault } from "./play-fault.ts";

/** Waits; rejects when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Answers calls with the handler, and lets go wrong what the book says. */
export function withFaults(handler: Handler, book: FaultBook, sleep: Sleep): Deliver {
  return async (call) => {
    const { latencyMs, fault } = await book.pick(call);
    if (latencyMs > 0) await sleep(latencyMs, call.signal);
    if (fault !== null) return playFault(fault, call, handler);
    return { ending: "whole", reply: await handler(call) };
  };
}
