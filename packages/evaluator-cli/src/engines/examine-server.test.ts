import { services } from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { chatReply, closedAddress, startEmulator, startServer } from "../testing/engines.ts";
import { run } from "../testing/run.ts";

async function examine(...words: readonly string[]) {
  return await run(await temporaryFolder(), ["doctor", ...words]);
}

test.each([
  ["openai", 6, 'wire: "decisions"'],
  ["vllm", 3, 'wire: "decisions"'],
  ["sglang", 6, 'wire: "decisions"'],
  ["llama.cpp", 6, "EVALUATOR_TRANSPORT=logprobs"],
  ["ollama", 6, "EVALUATOR_TRANSPORT=logprobs"],
] as const)("of %s it says what it can do and what to paste", async (engine, tokens, paste) => {
  const { origin } = await startEmulator({ engine });
  const { exitCode, stdout, stderr } = await examine(`${origin}/v1`);
  expect(stderr).toBe("");
  expect(exitCode).toBe(0);
  expect(stdout).toContain("local/lexical-1");
  expect(stdout).toMatch(new RegExp(`yes, (${tokens}|\\d) tokens listed \\(asked as ${engine}\\)`));
  expect(stdout).toContain("label mass          0.97");
  expect(stdout).toMatch(/time for a call {5}\d+ ms/);
  expect(stdout).toContain(paste);
});

test.each(services)("of the service %s it says what it needs, and sends nothing", async (name) => {
  const { exitCode, stdout } = await examine(name);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    / {2}address +https:\/\/\S+ \(form \w+\)\n {2}key +\w+.*: not set\n {2}model /,
  );
  expect(stdout).toContain(`EVALUATOR_TRANSPORT=${name}\n`);
  const typed = await examine(name, "--model", "own", "--json");
  expect(JSON.parse(typed.stdout)).toMatchObject({ service: name, model: "own", keyFrom: null });
});

test("a server that speaks the vendor's wire is reached by it", async () => {
  const { directBaseUrl } = await startEmulator();
  const { exitCode, stdout } = await examine(directBaseUrl, "--model", "jev-latest");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/POST \/v1\/systemone +yes/);
  expect(stdout).toMatch(/calibration +not shown by a route: vLLM serves both with any model/);
  expect(stdout).toContain(
    `EVALUATOR_TRANSPORT=direct\nEVALUATOR_DIRECT_BASE_URL=${directBaseUrl}`,
  );
});

test.each([
  ["no-logprobs", "ollama", "Update Ollama"],
  ["thinking-first", "ollama", "Switch thinking off"],
  ["low-label-mass", "llama.cpp", "rule label-mass"],
  ["short-list", "ollama", "rule readout-truncated"],
  ["probability-as-logprob", "llama.cpp", "rule logprob-range"],
] as const)("%s of %s ends with what to change: %s", async (kind, engine, message) => {
  const { origin } = await startEmulator({ engine, faults: [{ kind }] });
  const { exitCode, stdout } = await examine(origin);
  expect(exitCode).toBe(1);
  expect(stdout).toContain("It cannot be used unchanged:");
  expect(stdout).toContain(message);
});

test("where nothing listens it says so", async () => {
  const { exitCode, stderr } = await examine(await closedAddress());
  expect(exitCode).toBe(1);
  expect(stderr).toContain("refuses the connection. Start the server");
});

test("a web page is no server of models", async () => {
  const origin = await startServer({ "/v1/models": { html: "<!doctype html><p>Hello" } });
  const { exitCode, stderr } = await examine(origin);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("without JSON, like a web page or another service");
});

test("a server without a list of models is told apart from an empty list", async () => {
  const absent = await examine(await startServer({}));
  expect(absent.stderr).toContain("answers /v1/models with 404; check the address, or name");
  const empty = await examine(await startServer({ "/v1/models": { json: { data: [] } } }));
  expect(empty.stderr).toContain("lists no models; load one, or name the model with --model.");
});

test("a model that is not there is answered with those that are", async () => {
  const models = { data: [{ id: "qwen3:4b" }, { id: "gemma3" }] };
  const origin = await startServer({ "/v1/models": { json: models } });
  const { exitCode, stderr } = await examine(origin, "--model", "qwen9");
  expect(exitCode).toBe(1);
  expect(stderr).toContain('has no model "qwen9". It has qwen3:4b, gemma3');
});

test("for a server that wants a key, the variable of the key is named", async () => {
  const origin = await startServer({ "/v1/models": { status: 401, json: { error: "no key" } } });
  const { exitCode, stderr } = await examine(origin);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("wants a key (401). Set EVALUATOR_LOGPROBS_API_KEY.");
  const env = { EVALUATOR_LOGPROBS_API_KEY: "another" };
  const refused = await run(await temporaryFolder(), ["doctor", origin], { env });
  expect(refused.stderr).toContain("refuses the key (401). Set EVALUATOR_LOGPROBS_API_KEY.");
});

test("a native route whose model decides nothing is told apart from none", async () => {
  const error = { message: "This model does not support decisions" };
  const origin = await startServer({
    "/v1/models": { json: { data: [{ id: "m", owned_by: "llamacpp" }] } },
    "/v1/systemone": { status: 501, json: { error } },
    "/apply-template": { json: { prompt: "p" } },
    "/completion": { json: { completion_probabilities: [] } },
    "/v1/chat/completions": { json: chatReply([["yes", -0.1]]) },
  });
  const { exitCode, stdout } = await examine(origin);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/POST \/v1\/systemone .*501.*load one there/);
  expect(stdout).toMatch(/POST \/v1\/decisions +no \(404\)/);
});

test.each([
  [["127.0.0.1:11434"], "is no address such as http://127.0.0.1:11434"],
  [[], "Missing required argument 'url'."],
])("the words %j mean nothing", async (words, message) => {
  const { exitCode, stderr } = await examine(...words);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(message);
});
