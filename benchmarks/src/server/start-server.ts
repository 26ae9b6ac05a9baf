import { startChild } from "evaluator-kit/child";
import type { ServerService } from "./main.ts";

/** Addresses of the canned services. */
export interface ServiceAddresses {
  /** The gateway's base URL, in front of `/evaluation-model`. */
  readonly gateway: string;
  /** The vendor's own base URL. */
  readonly direct: string;
}

/** A canned server in its own process. */
export type BenchmarkServer = Awaited<ReturnType<typeof startServer>>;

/** Starts the canned server; set its replies before use. */
export async function startServer() {
  const child = startChild<ServerService>(new URL("main.ts", import.meta.url));
  const origin = `http://127.0.0.1:${await child.ask("listen")}`;
  return {
    addresses: { gateway: `${origin}/v4/ai`, direct: origin },
    /** Answers every request with the exchanges of this name. @default without delay */
    answer: (exchange: string, { latencyMs } = { latencyMs: 0 }) =>
      child.ask("answer", { exchange, latencyMs }),
    /** Returns the counts since the last reading. */
    takeCounts: () => child.ask("takeCounts"),
    [Symbol.asyncDispose]: () => child.close(),
  };
}
