#!/usr/bin/env bash
# Guess: the decisions call of Google's SDK waits as long as Google's own 429 asks for, since it retries 429 by itself.
# What happens: it retries up to four times and reads only the headers Retry-After and retry-after-ms. Google puts the
# wait into the body (`google.rpc.RetryInfo`), so a wait of 20 seconds is followed by a request in under 2 seconds,
# which counts against the same quota. The same wait in a header is obeyed.
# Source: npm @google/genai 3.3.0, decisions.create (retryIntervalFromResponse in dist/node); seen 2026-11-28.
# Output seen (times differ):
#   RetryInfo 20s in the body   4 retries, the first after 0.4 s, all within 6.2 s
#   Retry-After: 1 in a header  1 retry after 1.0 s
set -euo pipefail
cd "$(mktemp -d)"
npm init -y > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund @google/genai@3.3.0
cat > run.mjs <<'JS'
import { createServer } from "node:http";
import { once } from "node:events";
import { GoogleGenAI } from "@google/genai";

const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "20s" }];
const error = { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED", details };
let times = [];
let reply;
const server = createServer((request, response) => {
  times.push(Date.now());
  request.resume().on("end", () => reply(response.setHeader("content-type", "application/json")));
}).listen(0, "127.0.0.1");
await once(server, "listening");
const httpOptions = { baseUrl: `http://127.0.0.1:${server.address().port}` };

async function waits(next) {
  [times, reply] = [[], next];
  const questions = { q: { type: "noul", instructions: "Is it urgent?" } };
  const client = new GoogleGenAI({ apiKey: "k", httpOptions });
  await client.decisions.create({ model: "gemini-decision-1", input: "hello", questions }).catch(() => {});
  return times.map((time) => (time - times[0]) / 1000).slice(1);
}
const body = await waits((response) => response.writeHead(429).end(JSON.stringify({ error })));
console.log(`RetryInfo 20s in the body   ${body.length} retries, the first after ${body[0].toFixed(1)} s, all within ${body.at(-1).toFixed(1)} s`);
const header = await waits((response) =>
  times.length === 1
    ? response.writeHead(429, { "retry-after": "1" }).end(JSON.stringify({ error }))
    : response.end(JSON.stringify({ answers: {} })),
);
console.log(`Retry-After: 1 in a header  ${header.length} retry after ${header[0].toFixed(1)} s`);
server.close();
if (!(body.length === 4 && body[0] < 2 && header.length === 1 && header[0] >= 1)) process.exit(1);
JS
node run.mjs
