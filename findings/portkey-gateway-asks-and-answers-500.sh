#!/usr/bin/env bash
# Guess: a gateway either passes a path that it does not know on, or refuses it before it asks anybody.
# What happens: Portkey's gateway on Node asks the service, which works and charges, throws the answer away, and answers
# 500 "Something went wrong". It adds its own headers to the reply of `fetch`, which Node does not allow; only whole chats
# and a few other replies are made anew first. So no streamed chat of OpenAI's, no decision and no list of models comes
# through, and as 500 invites a retry, a client with two retries pays three times for nothing.
# Source: npm @portkey-ai/gateway 1.15.2 (build/start-server.js, updateHeaders), on Node 20 and 24; seen 2026-11-29.
# Output seen:
#   POST /v1/chat/completions         200, the service answered 1 time
#   POST /v1/chat/completions#stream  500, the service answered 1 time
#   POST /v1/decisions                500, the service answered 1 time
#   GET  /v1/models                   500, the service answered 1 time
set -euo pipefail
cd "$(mktemp -d)"
npm init -y > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund @portkey-ai/gateway@1.15.2
cat > run.mjs <<'JS'
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";

let answered = 0;
const listen = async (server) => (await once(server.listen(0, "127.0.0.1"), "listening"), server.address().port);
const [free, seen] = [createServer(), []];
const port = await listen(free);
free.close();
const chat = { id: "c", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "hi" } }] };
const replies = {
  "/v1/chat/completions": chat,
  "/v1/chat/completions#stream": "",
  "/v1/decisions": { object: "decision", model: "m", answers: [{ name: "a", type: "predicate", probability: 0.5 }] },
  "/v1/models": { object: "list", data: [] },
};
const service = createServer((request, response) => {
  let sent = "";
  request.on("data", (bytes) => (sent += bytes)).on("end", () => {
    answered += 1;
    const isStream = sent.includes('"stream":true');
    response.setHeader("content-type", isStream ? "text/event-stream" : "application/json");
    response.end(isStream ? "data: [DONE]\n\n" : JSON.stringify(replies[request.url]));
  });
});
const host = `http://127.0.0.1:${await listen(service)}/v1`;
const gateway = spawn("node", ["node_modules/@portkey-ai/gateway/build/start-server.js", `--port=${port}`, "--headless"], { stdio: "ignore" });
const headers = { "content-type": "application/json", authorization: "Bearer k", "x-portkey-provider": "openai", "x-portkey-custom-host": host };
while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => null))) await setTimeout(200);
for (const path of Object.keys(replies)) {
  answered = 0;
  const method = path === "/v1/models" ? "GET" : "POST"; // a fragment is not sent
  const body = method === "GET" ? undefined : JSON.stringify({ model: "m", stream: path.endsWith("#stream"), messages: [{ role: "user", content: "Hello" }] });
  const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
  seen.push(`${status} ${answered}`);
  console.log(`${method.padEnd(4)} ${path.padEnd(28)} ${status}, the service answered ${answered} time`);
}
gateway.kill();
process.exit(seen.join() === "200 1,500 1,500 1,500 1" ? 0 : 1);
JS
node run.mjs
