import { createServer } from "node:http";
import { pipeline } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { listen } from "evaluator-kit";
import { serveParent } from "evaluator-kit/child";
import greeting from "evaluator-fixtures/exchanges/gateway/greeting-routes-to-nano.json" with { type: "json" };

/** The streamed reply that a gateway gives to every message. */
interface ReplyPlan {
  readonly deltas: number;
  /** The characters of each delta. */
  readonly deltaLength: number;
  /** Milliseconds before each delta. */
  readonly everyMs: number;
}

const decision = JSON.stringify(greeting.response.body);
const usage = { inputTokens: { total: 12 }, outputTokens: { total: 9 } };
let plan: ReplyPlan = { deltas: 0, deltaLength: 0, everyMs: 0 };

function eventOf(part: object): string {
  return `data: ${JSON.stringify(part)}\n\n`;
}

async function* streamedReply({ deltas, deltaLength, everyMs }: ReplyPlan) {
  yield eventOf({ type: "text-start", id: "0" });
  const delta = eventOf({ type: "text-delta", id: "0", delta: "a".repeat(deltaLength) });
  for (let left = deltas; left > 0; left -= 1) {
    await setTimeout(everyMs);
    yield delta;
  }
  yield (
    eventOf({ type: "text-end", id: "0" }) +
      eventOf({ type: "finish", finishReason: { unified: "stop" }, usage })
  );
}

const server = createServer((request, response) => {
  request.resume();
  if (request.url?.endsWith("/language-model") === true) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    return void pipeline(streamedReply(plan), response, () => {});
  }
  response.setHeader("content-type", "application/json");
  if (request.method === "GET") return void response.end('{"object":"list","data":[]}');
  return void response.end(decision);
});

const service = {
  /** Listens on any free port, and gives the gateway's base URL. */
  listen: async () => `${(await listen(server, { port: 0 })).origin}/v4/ai`,
  /** Replies so from now on. */
  reply(next: ReplyPlan): void {
    plan = next;
  },
};

/** The calls that the gateway's process takes. */
export type UpstreamService = typeof service;

serveParent(service);
