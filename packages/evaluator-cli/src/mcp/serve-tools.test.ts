import { join } from "node:path";
import { execPath } from "node:process";
import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { runToExitCode, systemClock } from "evaluator-kit";
import { compileCache, createTestContext } from "evaluator-kit/testing";
import type { EmulatorOptions } from "evaluator-emulator";
import { expect, test } from "vitest";
import { runEvaluator } from "../run-evaluator.ts";
import { startEmulator } from "../testing/engines.ts";
import { connectTo, startHttp } from "../testing/start-mcp.ts";

const question = {
  state: "You have won the lottery, claim your prize",
  questions: {
    scam: { type: "boolean", instructions: "Is it a scam?" },
    kind: { type: "choice", instructions: "Which?", criteria: { prize: "a lottery", other: "" } },
  },
};

/** Connects the official client to the command over HTTP, with the emulator as its engine. */
async function connect(words: readonly string[] = [], options: EmulatorOptions = {}) {
  const emulator = await startEmulator(options);
  const engine = `gateway=${emulator.gatewayBaseUrl}`;
  const url = await startHttp(["--engine", engine, ...words]);
  const client = await connectTo(url);
  const call = async (name: string, words: object) =>
    (await client.callTool({ name, arguments: { ...words } })) as CallToolResult;
  return { client, call, url, paths: emulator.paths };
}

test("the tools are described, with schemas of what goes in and what comes out", async () => {
  const { client } = await connect();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["evaluate", "estimate", "list_models"]);
  expect(tools[0]?.inputSchema.required).toEqual(["state", "questions"]);
  expect(tools.every(({ outputSchema }) => outputSchema?.type === "object")).toBe(true);
  expect(JSON.stringify(tools).length).toBeLessThan(12_000);
  // LangChain's adapter and VS Code lose alternatives of a union, and Gemini refuses a list of types.
  const inputs = JSON.stringify(tools.map(({ inputSchema }) => inputSchema));
  expect(inputs).not.toMatch(/"(?:anyOf|oneOf|allOf)":|"type":\[/);
});

test("questions and options with the names of an object's own parts are kept", async () => {
  const { call } = await connect();
  const names = '{"__proto__":"a lottery","other":""}';
  const kind = { ...question.questions.kind, criteria: JSON.parse(names) as object };
  const questions = { kind, constructor: question.questions.scam };
  const { structuredContent } = await call("evaluate", { state: question.state, questions });
  const { answers } = structuredContent as { answers: Record<string, object> };
  expect(answers["constructor"]).toEqual({ type: "boolean", probability: 0.8 });
  expect(Object.keys(answers["kind"] ?? {})).toContain("probabilities");
  expect(JSON.stringify(answers)).toContain('"probabilities":{"__proto__":');
});

test("evaluate answers typed questions, short and structured, and asks the same once", async () => {
  const { call, paths } = await connect();
  const answered = await call("evaluate", question);
  expect(answered.structuredContent).toEqual({
    answers: {
      scam: { type: "boolean", probability: 0.8 },
      kind: {
        type: "choice",
        choice: "prize",
        probabilities: { prize: expect.any(Number), other: expect.any(Number) },
        confidence: expect.any(Number),
      },
    },
    calibration: "not calibrated",
    model: "local/lexical-1",
    costUsd: expect.any(Number),
    inputTokens: expect.any(Number),
    basis: "lexical",
  });
  const [content] = answered.content;
  expect(JSON.parse(content?.type === "text" ? content.text : "")).toEqual(
    answered.structuredContent,
  );
  const again = await call("evaluate", question);
  expect(again.structuredContent).toMatchObject({ costUsd: 0 });
  expect(await paths()).toEqual(["/v4/ai/evaluation-model"]);
});

test("what counts as yes and as no goes along with the question", async () => {
  const { call } = await connect();
  const tokensOf = async (more: object) => {
    const questions = { scam: { ...question.questions.scam, ...more } };
    const { structuredContent } = await call("evaluate", { state: question.state, questions });
    return Number(structuredContent?.["inputTokens"]);
  };
  const criteria = { true: "It asks for money or a password.", false: "It asks for nothing." };
  expect(await tokensOf({ criteria })).toBeGreaterThan((await tokensOf({})) + 5);
});

test("of many options the likeliest are listed, and how many are not", async () => {
  const { call } = await connect();
  const names = Array.from({ length: 40 }, (_, index) => [`option${index}`, `number ${index}`]);
  const criteria = Object.fromEntries(names);
  const questions = { which: { type: "choice", instructions: "Which?", criteria } };
  const { structuredContent } = await call("evaluate", { state: "number 7", questions });
  const { which } = (structuredContent as { answers: { which: Record<string, object> } }).answers;
  expect(which).toMatchObject({ choice: "option7", omitted: 32 });
  expect(Object.keys(which["probabilities"] ?? {})).toHaveLength(8);
});

test("estimate sends no question, and tells what is left; list_models lists prices", async () => {
  const { call, paths } = await connect(["--max-cost", "1"]);
  const estimated = await call("estimate", { ...question, times: 1000 });
  const { inputTokens } = estimated.structuredContent as { inputTokens: number };
  expect(estimated.structuredContent).toEqual({
    calls: 1000,
    inputTokens,
    costUsd: expect.closeTo((inputTokens * 0.042) / 1e6, 9),
    spentUsd: 0,
    maxCostUsd: 1,
  });
  const listed = await call("list_models", {});
  expect(listed.structuredContent).toMatchObject({
    models: [{ id: "typesafe-ai/jev", inputUsdPerMillionTokens: expect.closeTo(0.042, 9) }],
    total: 1,
  });
  const texts = await call("list_models", { type: "language" });
  expect(texts.structuredContent).toMatchObject({ total: expect.any(Number) });
  expect(new Set(await paths())).toEqual(new Set(["/v1/models"]));
});

test("what was asked before is answered from memory, also over the budget", async () => {
  const { call, paths } = await connect(["--max-tokens", "600"]);
  const { structuredContent: first } = await call("evaluate", question);
  expect(await call("evaluate", { ...question, state: "another ".repeat(60) })).toHaveProperty(
    "isError",
    true,
  );
  const { structuredContent: again } = await call("evaluate", question);
  expect(again).toMatchObject({ answers: (first as { answers: object }).answers, costUsd: 0 });
  expect(await paths()).toHaveLength(1);
});

test("a call over the budget, a refused one and a wrong one are errors that an assistant can read", async () => {
  const { call } = await connect(["--max-tokens", "10"]);
  const over = await call("evaluate", question);
  expect(over).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("Raise maxTokens") }],
  });
  const wrong = await call("evaluate", { state: "x", questions: { q: { type: "number" } } });
  expect(wrong).toMatchObject({ isError: true });
  const lost = { type: "boolean", instructions: "Is it?", levels: ["It is."] };
  expect(await call("evaluate", { state: "x", questions: { q: lost } })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('Unrecognized key: "levels" at questions.q') }],
  });
  const packed = { state: "x", questions: JSON.stringify(question.questions) };
  for (const tool of ["evaluate", "estimate"]) {
    expect(await call(tool, packed)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("expected an object at questions") }],
    });
  }
  const limited = await connect([], { faults: [{ kind: "status", status: 403 }] });
  const refused = await limited.call("evaluate", question);
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused.content)).toContain("403");
  expect(JSON.stringify(refused.content)).not.toContain("lottery");
});

test("over standard input and output, with the engine and the limits of the environment", async () => {
  const { gatewayBaseUrl } = await startEmulator();
  const transport = new StdioClientTransport({
    command: execPath,
    args: [join(import.meta.dirname, "../main.ts"), "mcp"],
    env: {
      ...compileCache,
      AI_GATEWAY_API_KEY: "local",
      EVALUATOR_BASE_URL: gatewayBaseUrl,
      EVALUATOR_MAX_COST_USD: "0.5",
    },
    stderr: "pipe",
  });
  const client = new Client({ name: "a test", version: "1" });
  await client.connect(transport);
  const answered = await client.callTool({ name: "evaluate", arguments: question });
  expect(answered["structuredContent"]).toMatchObject({ answers: { scam: { probability: 0.8 } } });
  const left = await client.callTool({ name: "estimate", arguments: question });
  expect(left["structuredContent"]).toMatchObject({ maxCostUsd: 0.5 });
  // The pipe stays open: the signal alone ends it.
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  Object.assign(client, { onclose: resolve });
  process.kill(transport.pid ?? 0, "SIGTERM");
  await closed;
});

test("a message of over 10 MiB on standard input ends the program with its reason", async () => {
  const stdin = new PassThrough();
  const context = createTestContext({ stdin });
  const words = ["mcp", "--engine", "logprobs=http://127.0.0.1:9@m"];
  const exited = runToExitCode(runEvaluator, words, { name: "It", context });
  stdin.write(Buffer.alloc(10 * 1024 * 1024 + 1));
  expect(await exited).toBe(1);
  expect(context.printed.stderr).toContain("over 10 MiB");
});

const withKey = { AI_GATEWAY_API_KEY: "local" };

test.each([
  [["--max-cost", "free"], withKey, "argument 'free' is invalid. Use a number"],
  [
    [],
    { ...withKey, EVALUATOR_MAX_COST_USD: "much" },
    'EVALUATOR_MAX_COST_USD "much" is invalid. Use a number',
  ],
  [
    ["--max-cost", "1", "--engine", "direct=http://127.0.0.1:9"],
    {},
    "direct reports no price; set --price or --max-tokens.",
  ],
  [["--calibration", "/nowhere/c.json"], withKey, "/nowhere/c.json cannot be read: no such file"],
  [[], {}, "--engine gateway: a key is missing: set AI_GATEWAY_API_KEY.\n"],
])("%j with %j is refused: %s", async (words, env, message) => {
  expect(await startHttp(words, env)).toContain(message);
});

test("a state may hold images, if the engine's wire takes them", async () => {
  const pixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const state = ["a photo", { image: `data:image/png;base64,${pixel}` }];
  const engine = await startEmulator();
  const ask = async (word: string) => {
    const client = await connectTo(await startHttp(["--engine", word]));
    const result = await client.callTool({ name: "evaluate", arguments: { ...question, state } });
    return JSON.stringify(result);
  };
  expect(await ask(`direct=${engine.directBaseUrl}`)).toContain('"probability":');
  expect(await ask(`gateway=${engine.gatewayBaseUrl}`)).toContain(
    "is a list of parts, which this transport does not take",
  );
});

test("a caller with a token is notified each second, and one without is not", async () => {
  const delays: number[] = [];
  const schedule = (delayMs: number, callback: () => void) => {
    // Two seconds pass before the answer.
    if (delays.push(delayMs) <= 2) queueMicrotask(callback);
    return () => {};
  };
  const { gatewayBaseUrl } = await startEmulator();
  const words = ["--engine", `gateway=${gatewayBaseUrl}`];
  const client = await connectTo(await startHttp(words, {}, { ...systemClock, schedule }));
  const progress: number[] = [];
  const given = { name: "evaluate", arguments: question };
  await client.callTool(given);
  expect(delays).toEqual([]);
  await client.callTool(given, undefined, { onprogress: (one) => progress.push(one.progress) });
  expect(progress).toEqual([1, 2]);
  expect(delays).toEqual([1000, 1000, 1000]);
});
