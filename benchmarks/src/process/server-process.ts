import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serveParent } from "evaluator-kit/child";
import { cannedReplies, createCannedServer } from "./canned-server.ts";

/** The replies of the server. */
export interface ServerAnswer {
  /** The name of exchanges. */
  readonly exchange: string;
  /** How long each reply waits, in milliseconds. */
  readonly latencyMs: number;
}

let replies: Awaited<ReturnType<typeof cannedReplies>> = new Map();
let latencyMs = 0;
let requests = 0;
let firstRequestAt = 0;
let lastReplyAt = 0;
let waitedMs = 0;

const server = createCannedServer({
  replyTo: (methodAndPath) => replies.get(methodAndPath) ?? null,
  latencyMs: () => latencyMs,
  onRequest(methodAndPath) {
    if (!asksAModel(methodAndPath)) return;
    if (requests === 0) firstRequestAt = performance.now();
    requests += 1;
  },
  onReply(methodAndPath, tookMs) {
    if (!asksAModel(methodAndPath)) return;
    lastReplyAt = performance.now();
    waitedMs += tookMs;
  },
});

function asksAModel(methodAndPath: string): boolean {
  return methodAndPath.startsWith("POST ");
}

const service = {
  /** Listens on any free port, and gives it. */
  async listen(): Promise<number> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
  /** Sets the replies and their delay. */
  async answer(options: ServerAnswer): Promise<void> {
    replies = await cannedReplies(options.exchange);
    ({ latencyMs } = options);
  },
  /**
   * Returns and resets the counts of calls to a model: the time from the first request to the last
   * reply, and the average time of a reply.
   */
  takeCounts() {
    const busyMs = Math.max(0, lastReplyAt - firstRequestAt);
    const counts = { requests, busyMs, latencyMs: requests === 0 ? 0 : waitedMs / requests };
    requests = 0;
    waitedMs = 0;
    return counts;
  },
};

/** The calls that the server process takes. */
export type ServerService = typeof service;
/** Counts of calls to a model since the last reading. */
export type ServerCounts = ReturnType<ServerService["takeCounts"]>;

serveParent(service);
