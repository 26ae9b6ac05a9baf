#!/usr/bin/env bash
# Guess: `new OpenRouter({ serverURL })` (or OPENROUTER_BASE_URL) sends every call of that client to the given server.
# What happens: `systemOne.create` goes there, but `alpha.decisions.create`, the same request in the same SDK, goes to
# https://openrouter.ai: its base URL is a list in the operation, and only the option of the single call replaces it.
# A test against a local server therefore asks (and pays) the real service with one of two equal calls.
# Source: npm @openrouter/sdk 1.3.19, esm/funcs/alphaDecisionsCreate.js and systemOneCreate.js; seen 2026-11-28.
# Output seen:
#   systemOne.create             http://127.0.0.1:9/api/v1/systemone
#   alpha.decisions.create       https://openrouter.ai/api/alpha/decisions
#   the same, option of the call http://127.0.0.1:9/api/alpha/decisions
set -euo pipefail
cd "$(mktemp -d)"
npm init -y > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund @openrouter/sdk@1.3.19
cat > run.mjs <<'JS'
import { OpenRouter } from "@openrouter/sdk";
import { HTTPClient } from "@openrouter/sdk/lib/http.js";

const serverURL = "http://127.0.0.1:9/api/v1";
process.env.OPENROUTER_BASE_URL = serverURL;
let seen = "";
// No request leaves the machine: the fetcher notes the address and answers.
const httpClient = new HTTPClient({
  fetcher: async (request) => {
    seen = request.url;
    return Response.json({ answers: {}, model: "m", usage: { input_tokens: 1, output_tokens: 1 } });
  },
});
const client = new OpenRouter({ apiKey: "k", serverURL, httpClient });
const questions = { urgent: { type: "noul", instructions: "Is it urgent?" } };
const decisionsRequest = { model: "typesafe/jev-1.14", state: "hello", questions };
const urls = [];
const ask = async (name, call) => {
  await call();
  urls.push(seen);
  console.log(name.padEnd(28), seen);
};
await ask("systemOne.create", () => client.systemOne.create({ decisionsRequest }));
await ask("alpha.decisions.create", () => client.alpha.decisions.create({ decisionsRequest }));
await ask("the same, option of the call", () =>
  client.alpha.decisions.create({ decisionsRequest }, { serverURL: "http://127.0.0.1:9" }),
);
const expected = ["http://127.0.0.1:9/api/v1/systemone", "https://openrouter.ai/api/alpha/decisions"];
if (urls[0] !== expected[0] || urls[1] !== expected[1]) process.exit(1);
JS
node run.mjs
