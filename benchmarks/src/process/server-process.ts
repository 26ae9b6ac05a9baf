import { listen } from "evaluator-kit";
import { serveParent } from "evaluator-kit/child";
import { cannedReplies, createCannedServer } from "./canned-server.ts";

let replies: Awaited<ReturnType<typeof cannedReplies>> = new Map();
let latencyMs = 0;
let requests = 0;
let firstRequestAt = 0;
let lastReplyAt = 0;
let waitedMs = 0;

const server = createCannedServer((methodAndPath, _body, send) => {
  const reply = replies.get(methodAndPath) ?? null;
  // Only calls to a model are counted and wait.
  if (reply === null || !methodAndPath.startsWith("POST ")) return send(reply);
  const startedAt = performance.now();
  if (requests === 0) firstRequestAt = startedAt;
  requests += 1;
  const sendCounted = () => {
    send(reply);
    lastReplyAt = performance.now();
    waitedMs += lastReplyAt - startedAt;
  };
  if (latencyMs === 0) sendCounted();
  else setTimeout(sendCounted, latencyMs);
});

const service = {
  /** Listens on any free port and returns the origin. */
  listen: async () => (await listen(server, { port: 0 })).origin,
  /** Replies with the exchanges of this name, each after this delay. */
  async answer(options: { exchange: string; latencyMs: number }): Promise<void> {
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

serveParent(service);
