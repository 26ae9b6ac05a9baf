import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serveParent } from "evaluator-kit/child";
import greeting from "evaluator-fixtures/exchanges/gateway/greeting-routes-to-nano.json" with { type: "json" };

/** The streamed reply that a gateway gives to every message. */
export interface ReplyPlan {
  readonly deltas: number;
  /** The characters of each delta. */
  readonly deltaLength: number;
  /** Milliseconds between two deltas; 0 for no delay. */
  readonly everyMs: number;
}

const decision = JSON.stringify(greeting.response.body);
const begin = eventOf({ type: "text-start", id: "0" });
const usage = { inputTokens: { total: 12 }, outputTokens: { total: 9 } };
const end =
  eventOf({ type: "text-end", id: "0" }) +
  eventOf({ type: "finish", finishReason: { unified: "stop" }, usage });
let plan: ReplyPlan = { deltas: 0, deltaLength: 0, everyMs: 0 };

function eventOf(part: object): string {
  return `data: ${JSON.stringify(part)}\n\n`;
}

function send(response: ServerResponse): void {
  const { deltas, deltaLength, everyMs } = plan;
  const delta = eventOf({ type: "text-delta", id: "0", delta: "a".repeat(deltaLength) });
  response.writeHead(200, { "content-type": "text/event-stream" }).write(begin);
  if (everyMs > 0) sendPaced(response, { delta, deltas, everyMs });
  else sendAtOnce(response, { delta, deltas });
}

function sendPaced(
  response: ServerResponse,
  { delta, deltas, everyMs }: { delta: string; deltas: number; everyMs: number },
): void {
  let left = deltas;
  const timer = setInterval(() => {
    left -= 1;
    if (left >= 0) response.write(delta);
    else response.end(end);
  }, everyMs);
  response.once("close", () => clearInterval(timer));
}

function sendAtOnce(
  response: ServerResponse,
  { delta, deltas }: { delta: string; deltas: number },
): void {
  const perBlock = Math.min(deltas, 512);
  const block = Buffer.from(delta.repeat(perBlock));
  let left = deltas / perBlock;
  const go = () => {
    let hasRoom = true;
    for (; left > 0 && hasRoom; left -= 1) hasRoom = response.write(block);
    if (left > 0) response.once("drain", go);
    else response.end(end);
  };
  go();
}

const server = createServer((request, response) => {
  request.resume();
  if (request.url?.endsWith("/language-model") === true) return send(response);
  response.setHeader("content-type", "application/json");
  if (request.method === "GET") return void response.end('{"object":"list","data":[]}');
  return void response.end(decision);
});

const service = {
  /** Listens on any free port, and gives the gateway's base URL. */
  async listen(): Promise<string> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v4/ai`;
  },
  /** Replies so from now on. */
  reply(next: ReplyPlan): void {
    plan = next;
  },
};

/** The calls that the gateway's process takes. */
export type UpstreamService = typeof service;

serveParent(service);
