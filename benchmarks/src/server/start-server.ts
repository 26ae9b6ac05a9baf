import { startChild } from "evaluator-kit/child";
import type { ServerService } from "./main.ts";

/** Where the canned services are. */
export interface ServiceAddresses {
  /** The gateway's base URL, in front of `/evaluation-model`. */
  readonly gateway: string;
  /** The vendor's own base URL. */
  readonly direct: string;
}

/** A canned server in a process of its own. */
export type BenchmarkServer = Awaited<ReturnType<typeof startServer>>;

/** Starts the canned server, which must be told what it answers. */
export async function startServer() {
  const child = startChild<ServerService>(new URL("main.ts", import.meta.url));
  const origin = `http://127.0.0.1:${await child.ask("listen")}`;
  return {
    addresses: { gateway: `${origin}/v4/ai`, direct: origin },
    /** Answers as the exchanges of this name, whatever it is asked; at once unless told otherwise. */
    answer: (exchange: string, { latencyMs } = { latencyMs: 0 }) =>
      child.ask("answer", { exchange, latencyMs }),
    /** What it saw since it was last asked. */
    takeCounts: () => child.ask("takeCounts"),
    [Symbol.asyncDispose]: () => child.close(),
  };
}
