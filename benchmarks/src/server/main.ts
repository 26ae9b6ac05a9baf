import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serveParent } from "evaluator-kit/child";
import { cannedReplies } from "./replies.ts";
import { createCannedServer } from "./canned-server.ts";

/** What a server answers. */
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
  /** Answers so from now on, so late. */
  async answer(options: ServerAnswer): Promise<void> {
    replies = await cannedReplies(options.exchange);
    ({ latencyMs } = options);
  },
  /**
   * Returns what it saw of calls to a model, and starts anew: the time from the first request to the
   * last reply, and how long a reply took on average, a little more than it was told to wait.
   */
  takeCounts() {
    const busyMs = Math.max(0, lastReplyAt - firstRequestAt);
    const counts = { requests, busyMs, latencyMs: requests === 0 ? 0 : waitedMs / requests };
    requests = 0;
    waitedMs = 0;
    return counts;
  },
};

/** What the server process does when asked. */
export type ServerService = typeof service;
/** What it saw of calls to a model since it was last asked. */
export type ServerCounts = ReturnType<ServerService["takeCounts"]>;

serveParent(service);
