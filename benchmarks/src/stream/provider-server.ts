import { createServer } from "node:http";
import process from "node:process";
import { listen } from "evaluator-kit";
import { createGateway } from "ai";

// The reference for replies through a provider: `node:http`, and the gateway's provider of `ai` without the router.

const provider = createGateway({ baseURL: process.env["UPSTREAM"] ?? "", apiKey: "benchmark-key" });
const model = provider("openai/gpt-5-nano");

async function* eventsOf(text: string) {
  const { stream } = await model.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text }] }],
  });
  for await (const part of stream) {
    if (part.type !== "text-delta") continue;
    const choices = [{ index: 0, delta: { content: part.delta }, finish_reason: null }];
    yield `data: ${JSON.stringify({ choices })}\n\n`;
  }
  yield "data: [DONE]\n\n";
}

const server = createServer(async (request, response) => {
  if (request.method === "GET") {
    response.end('{"status":"alive"}');
    return;
  }
  const { messages } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
    messages: [{ content: string }];
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  for await (const event of eventsOf(messages[0].content)) response.write(event);
  response.end();
});
process.stdout.write(`${(await listen(server, { port: 0 })).origin}\n`);
process.once("SIGTERM", () => process.exit());
