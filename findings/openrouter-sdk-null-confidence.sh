#!/usr/bin/env bash
# Guess: a field of an answer that the SDK does not expect is dropped, or the call fails with a validation error.
# What happens: `confidence: null` beside a whole and paid distribution turns the answer into `type: "UNKNOWN"` without
# choice and probabilities; the call succeeds. `confidence` is optional, so leaving it out is fine and null is not. Code
# that switches on the type treats the answer as a kind of the future; the distribution is under `raw`.
# The two neighbours differ: a null in `usage` fails the call, and a missing `probabilities` is no problem.
# Source: npm @openrouter/sdk 1.3.19, esm/types/discriminatedUnion.js, decisionschoiceanswer.js; seen 2026-11-28.
# Output seen:
#   confidence 0.5       choice    {"yes":0.75,"no":0.25}
#   confidence left out  choice    {"yes":0.75,"no":0.25}
#   confidence null      UNKNOWN   undefined, raw.probabilities {"yes":0.75,"no":0.25}
#   no probabilities     choice    undefined
#   usage tokens null    ResponseValidationError
set -euo pipefail
cd "$(mktemp -d)"
npm init -y > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund @openrouter/sdk@1.3.19
cat > run.mjs <<'JS'
import { OpenRouter } from "@openrouter/sdk";
import { HTTPClient } from "@openrouter/sdk/lib/http.js";

const probabilities = { yes: 0.75, no: 0.25 };
const usage = { input_tokens: 9, output_tokens: 2 };
const questions = { q: { type: "choice", instructions: "?", criteria: { yes: null, no: null } } };

async function ask(name, fields, used = usage) {
  const answers = { q: { type: "choice", choice: "yes", probabilities, ...fields } };
  const fetcher = async () => Response.json({ model: "m", answers, usage: used });
  const client = new OpenRouter({ apiKey: "k", httpClient: new HTTPClient({ fetcher }) });
  const decisionsRequest = { model: "m/m", state: "hello", questions };
  const result = await client.systemOne.create({ decisionsRequest }).catch((error) => error);
  const answer = result.answers?.q;
  const raw = answer?.raw && `, raw.probabilities ${JSON.stringify(answer.raw.probabilities)}`;
  const shown = answer
    ? `${answer.type.padEnd(9)} ${JSON.stringify(answer.probabilities)}${raw ?? ""}`
    : result.constructor.name;
  console.log(name.padEnd(20), shown);
  return answer?.type ?? result.constructor.name;
}

const seen = [
  await ask("confidence 0.5", { confidence: 0.5 }),
  await ask("confidence left out", {}),
  await ask("confidence null", { confidence: null }),
  await ask("no probabilities", { probabilities: undefined }),
  await ask("usage tokens null", {}, { ...usage, input_tokens: null }),
];
if (seen.join() !== "choice,choice,UNKNOWN,choice,ResponseValidationError") process.exit(1);
JS
node run.mjs
