import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { runToExitCode } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runEvaluator } from "../run-evaluator.ts";
import { chatReply, closedAddress, startEmulator, startServer } from "../testing/engines.ts";
import { run } from "../testing/run.ts";

const invoice = { subject: "Your invoice", snippet: "The payment receipt is attached." };
const kindQuestion = ["What kind of email is this?", "receipt=a payment receipt,other"];
const questions = [
  "--choice",
  ...kindQuestion,
  "--score",
  "How important is it?",
  "low,high",
].concat(["--boolean", "Does it look like a scam?"]);

async function folderWithState(state: object | string = invoice): Promise<string> {
  const cwd = await temporaryFolder();
  const text = typeof state === "string" ? state : JSON.stringify(state);
  await writeFile(join(cwd, "state.json"), text);
  return cwd;
}

async function ask(engine: string, words: readonly string[] = questions) {
  const cwd = await folderWithState();
  return await run(cwd, ["ask", "--state", "state.json", ...words, "--engine", engine]);
}

test.each([
  ["gateway", undefined],
  ["direct", undefined],
  ["decisions", "openai"],
  ["logprobs", "openai"],
  ["logprobs", "vllm"],
  ["logprobs", "llama.cpp"],
  ["logprobs", "ollama"],
  ["logprobs", "sglang"],
] as const)(
  "%s of the engine %s answers each kind of question, without a key",
  async (kind, engine) => {
    const emulator = await startEmulator(engine === undefined ? {} : { engine });
    const specs = {
      gateway: `gateway=${emulator.gatewayBaseUrl}`,
      direct: `direct=${emulator.directBaseUrl}`,
      decisions: `decisions=${emulator.origin}@local/lexical-1`,
      logprobs: `logprobs=${emulator.origin}@local/lexical-1`,
    };
    const { exitCode, stdout, stderr } = await ask(specs[kind]);
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^choice   receipt 0\.\d\d, other 0\.\d\d$/m);
    expect(stdout).toMatch(/^score    0\.\d\d \(0 0\.\d\d, 1 0\.\d\d\)$/m);
    expect(stdout).toMatch(/^boolean  yes 0\.\d\d$/m);
    expect(stdout).toContain("by local/lexical-1");
    expect(stdout).toContain("These answers come from matching words");
  },
);

test("a state is piped in as text, questions come from a file, and JSON goes out", async () => {
  const { gatewayBaseUrl } = await startEmulator();
  const cwd = await temporaryFolder();
  const asked = { scam: { type: "boolean", instructions: "Does it look like a scam?" } };
  await writeFile(join(cwd, "questions.json"), JSON.stringify(asked));
  const context = createTestContext({
    cwd,
    stdin: Readable.from(["You have ", "won the lottery"]),
  });
  const words = ["ask", "--state", "-", "--questions", "questions.json", "--json"];
  const all = [...words, "--engine", `gateway=${gatewayBaseUrl}`];
  const exitCode = await runToExitCode(runEvaluator, all, { name: "It", context });
  expect(exitCode).toBe(0);
  expect(JSON.parse(context.printed.stdout)).toMatchObject({
    answers: { scam: { type: "boolean", probability: expect.any(Number) as number } },
    modelId: "local/lexical-1",
  });
});

const oneQuestion = ["--boolean", "Does it look like a scam?"];

test.each([
  ["no-logprobs", "openai", "without log-probabilities"],
  ["no-logprobs", "llama.cpp", "Update llama-server"],
  ["no-logprobs", "sglang", "without log-probabilities"],
  ["no-logprobs", "ollama", "Update Ollama: versions before 0.12.11"],
  ["thinking-first", "vllm", "Switch thinking off at the server"],
  ["low-label-mass", "openai", "rule label-mass"],
  ["short-list", "ollama", "rule readout-truncated"],
  ["filler", "vllm", "rule readout-truncated"],
  ["probability-as-logprob", "ollama", "rule logprob-range"],
] as const)("%s of %s is an error that says what to change: %s", async (kind, engine, message) => {
  const { origin } = await startEmulator({ engine, faults: [{ kind }] });
  const { exitCode, stdout, stderr } = await ask(`logprobs=${origin}@m`, oneQuestion);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(1);
  expect(stdout).toBe("");
});

test("a wrong URL names the address and what to check", async () => {
  const origin = await closedAddress();
  const { exitCode, stderr } = await ask(`logprobs=${origin}@m`, oneQuestion);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`Could not connect to ${origin} (ECONNREFUSED)`);
});

test("a model that is not there is what the server says it is", async () => {
  const error = { message: "model 'qwen9' not found", type: "not_found_error" };
  const origin = await startServer({
    "/v1/models": { json: { data: [{ id: "qwen3", owned_by: "library" }] } },
    "/v1/chat/completions": { status: 404, json: { error } },
  });
  const { exitCode, stderr } = await ask(`logprobs=${origin}@qwen9`, oneQuestion);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("model 'qwen9' not found");
  expect(stderr).toContain("that the server has this model");
});

test("255 options on a server that takes 26 end with its limit and what to set", async () => {
  const detail = "choices: List should have at most 26 items";
  const origin = await startServer({ "/v1/decisions": { status: 422, json: { detail } } });
  const names = Array.from({ length: 255 }, (_, index) => `option${index}`).join(",");
  const words = ["--choice", "Which is it?", names];
  const { exitCode, stderr } = await ask(`decisions=${origin}@m`, words);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("at most 26 items");
  expect(stderr).toContain("vLLM 26");
});

test("a tokenizer that splits the labels is named", async () => {
  const origin = await startServer({
    "/v1/models": { json: { data: [{ id: "m", owned_by: "library" }] } },
    "/v1/chat/completions": {
      json: chatReply([
        ["ye", -0.01],
        ["The", -5],
      ]),
    },
  });
  const { exitCode, stderr } = await ask(`logprobs=${origin}@m`, oneQuestion);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Its tokenizer splits the labels; use another model.");
});

test.each([
  [[], 1, "Give --boolean, --choice, --score or --questions"],
  [["--choice", "Which?"], 1, 'A question is typed as --choice "What kind is it?" receipt,other'],
  [["--choice", "Which?", "a,b", "Why?"], 1, "A question is typed as --choice"],
  [["--choice", "Which?", "a,a"], 1, "names an option twice"],
  [["--boolean", "So?", "--engine", "smoke=http://127.0.0.1:1"], 1, "an engine is one of"],
  [["--boolean", "So?", "--engine", "decisions=http://127.0.0.1:1"], 1, "EVALUATOR_MODEL_ID"],
  [
    ["--boolean", "So?", "--engine", "gateway,key=NOT_SET"],
    1,
    "NOT_SET names an unset environment",
  ],
  [["--boolean", "So?", "--engine", "gateway,kee=A"], 1, "Use key or price."],
  [["--boolean", "So?", "--questions", "state.json"], 1, "state.json cannot be used:"],
  [["--boolean", "So?", "--questions", "none.json"], 1, "no such file"],
])("the words %j end with %i: %s", async (words, expected, message) => {
  const { exitCode, stderr } = await run(await folderWithState(), [
    "ask",
    "--state",
    "state.json",
    ...words,
  ]);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(expected);
});

test("a key of the environment is in no message", async () => {
  const origin = await startServer({});
  const cwd = await folderWithState();
  const env = { EVALUATOR_DIRECT_API_KEY: "sk-very-secret-key" };
  const context = createTestContext({ cwd, env });
  const words = ["ask", "--state", "state.json", ...oneQuestion, "--engine", `direct=${origin}`];
  expect(await runToExitCode(runEvaluator, words, { name: "It", context })).toBe(1);
  expect(context.printed.stderr).toContain("404");
  expect(context.printed.stderr).not.toContain("secret");
});

const [one, two] = ['{"id":1}', '{"id":2}'];

test.each([
  ["t.csv", "id,body\n1,a\n2,b\n", 0],
  ["t.ndjson", `${one}\n${two}\n`, 0],
  ["t.json", `${one}\n${two}\n`, 1],
  ["t.json", `[${one},${two}]`, 1],
])("the state %s of %j holds records, for which run is suggested", async (name, text, ending) => {
  const { exitCode, stderr } = await askAbout(name, text);
  expect(stderr).toContain(
    `${name} holds many records; to ask about each one: evaluator-cli run ${name} --questions FILE\n`,
  );
  expect(exitCode).toBe(ending);
});

test.each([
  ["t.csv", "id,body\n1,a\n"],
  ["t.ndjson", `${one}\n`],
  ["t.json", `[${one}]`],
  ["mail.txt", "Hello,\nit is me.\n"],
  ["mail.json", JSON.stringify(["Hello", { json: 1 }])],
])("the state %s of %j is one record", async (name, text) => {
  expect((await askAbout(name, text)).stderr).not.toContain("evaluator-cli run");
});

test("a state with a number that would be rounded is refused by its place", async () => {
  const { exitCode, stderr } = await askAbout("s.json", '{"order":[1,12345678901234567890]}');
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 's.json: "order.1" would be rounded; write it as text or with fewer digits.\n',
  });
});

async function askAbout(name: string, text: string) {
  const { gatewayBaseUrl } = await startEmulator();
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, name), text);
  const words = ["ask", "--state", name, ...oneQuestion, "--engine", `gateway=${gatewayBaseUrl}`];
  return await run(cwd, words);
}
