import { createServer, type ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { listen } from "evaluator-kit";
import { serveParent } from "evaluator-kit/child";
import evaluated from "evaluator-fixtures/exchanges/gateway/greeting-routes-to-nano.json" with { type: "json" };
import answered from "evaluator-fixtures/exchanges/direct/greeting-routes-to-nano.json" with { type: "json" };
import { replyText } from "../sample-requests.ts";

// A service of OpenAI's chat API, which also decides and answers questions.

/** How each reply is streamed. */
export interface StreamPlan {
  readonly deltas: number;
  /** Milliseconds before each delta. */
  readonly everyMs: number;
}

let plan: StreamPlan = { deltas: 1, everyMs: 0 };
const usage = { prompt_tokens: 12, completion_tokens: 9, total_tokens: 21 };
const head = { id: "chatcmpl-1", created: 1_772_442_010, model: "m" };
const message = { role: "assistant", content: replyText, refusal: null };
const whole = JSON.stringify({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
  usage,
});

const eventOf = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const chunkOf = (delta: object, reason: string | null = null) =>
  eventOf({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });

async function stream(response: ServerResponse): Promise<void> {
  const { deltas, everyMs } = plan;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunkOf({ role: "assistant", content: "" }));
  for (let left = deltas; left > 0; left -= 1) {
    await setTimeout(everyMs);
    response.write(chunkOf({ content: "a" }));
  }
  response.end(`${chunkOf({}, "stop")}${eventOf({ ...head, choices: [], usage })}data: [DONE]\n\n`);
}

const bodies: Readonly<Record<string, string>> = {
  "/v4/ai/evaluation-model": JSON.stringify(evaluated.response.body),
  "/v1/systemone": JSON.stringify(answered.response.body),
};

const server = createServer((request, response) => {
  let sent = "";
  request.setEncoding("utf8").on("data", (text: string) => (sent += text));
  request.once("end", () => {
    if (/"stream": ?true/.test(sent)) {
      void stream(response);
      return;
    }
    response.setHeader("content-type", "application/json");
    const { method, url = "" } = request;
    response.end(method === "GET" ? '{"object":"list","data":[]}' : (bodies[url] ?? whole));
  });
});

const service = {
  /** Listens on any free port and returns the origin. */
  listen: async () => (await listen(server, { port: 0 })).origin,
  /** Streams replies so from now on. */
  stream(next: StreamPlan): void {
    plan = next;
  },
};

/** The calls that the upstream's process takes. */
export type ChatUpstreamService = typeof service;

serveParent(service);
