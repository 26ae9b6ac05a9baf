import { once } from "node:events";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { createEvaluator, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { type Clock, systemClock } from "evaluator-kit";
import { compileCache } from "evaluator-kit/compile-cache";
import { expect, onTestFinished, test } from "vitest";
import { createServer } from "../examples/mcp-tools/guarded-server.ts";

/** Starts an emulator at an address, and returns the environment in which a program asks it. */
async function addressOf(options: Parameters<typeof createEmulator>[0]) {
  const emulator = createEmulator({ exchanges: [], ...options });
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  return { ...compileCache, AI_GATEWAY_API_KEY: "local", EVALUATOR_BASE_URL: gatewayBaseUrl };
}

test("Claude Code: the hook as a process prints its decision and one line without the command", async () => {
  const env = await addressOf({ rules: [{ answers: { harmless: 0.02 } }] });
  const program = "examples/claude-code-hook/check-tool.ts";
  const hook = spawn(process.execPath, [program], { env });
  // The input of the hook as its documentation has it.
  const input = {
    session_id: "abc123",
    transcript_path: "/home/ada/.claude/projects/app/abc123.jsonl",
    cwd: "/home/ada/app",
    permission_mode: "default",
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_input: { command: "rm -rf /", description: "Free space", timeout: 120_000 },
    tool_use_id: "toolu_01ABC123",
  };
  hook.stdin.end(JSON.stringify(input));
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(hook.stdout),
    text(hook.stderr),
    once(hook, "exit"),
  ]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: expect.stringContaining("0.98"),
    },
  });
  expect(stderr).toMatch(/^gate: "Bash" denied: "harmless" is no \(0\.98\)[^\n]*\n$/);
});

/** Calls a tool of the MCP server in a process; `person` is what a person types into the client's form. */
async function removeOverMcp(env: Record<string, string>, person?: ElicitResult) {
  const folder = await mkdtemp(join(tmpdir(), "files-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "cache.bin"), "");
  const capabilities = person === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  onTestFinished(() => client.close());
  if (person !== undefined) client.setRequestHandler(ElicitRequestSchema, async () => person);
  const args = ["examples/mcp-tools/guarded-server.ts", folder];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }),
  );
  const call = { name: "remove_file", arguments: { name: "cache.bin" } };
  const { isError = false } = await client.callTool(call);
  return { isRemoved: !existsSync(join(folder, "cache.bin")), isError };
}

test.each<[string, Parameters<typeof createEmulator>[0], ElicitResult | undefined, boolean]>([
  ["approved", { rules: [{ answers: { harmless: 0.97 } }] }, undefined, true],
  [
    "denied",
    { rules: [{ answers: { harmless: 0.02 } }] },
    { action: "accept", content: { remove: true } },
    false,
  ],
  ["unsure", { rules: [{ answers: { harmless: 0.7 } }] }, undefined, false],
  [
    "unsure, and a person says yes",
    { rules: [{ answers: { harmless: 0.7 } }] },
    { action: "accept", content: { remove: true } },
    true,
  ],
  [
    "unsure, and a person declines",
    { rules: [{ answers: { harmless: 0.7 } }] },
    { action: "decline" },
    false,
  ],
  ["refused", { faults: [{ kind: "refusal" }] }, undefined, false],
  ["failed", { faults: [{ kind: "status", status: 400 }] }, undefined, false],
])("MCP: a tool whose call is %s runs: %#", async (_, options, person, isRemoved) => {
  const env = await addressOf(options);
  expect(await removeOverMcp(env, person)).toEqual({ isRemoved, isError: !isRemoved });
});

test("MCP: a tool whose call is approved too late does not run, and its log line says so", async () => {
  const { fetch } = createEmulator({ exchanges: [], rules: [{ answers: { harmless: 0.99 } }] });
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => void (answer = resolve));
  const transport = gatewayTransport({
    apiKey: "local",
    env: {},
    fetch: async (...call) => held.then(() => fetch(...call)),
  });
  // Each wait ends at once, so the deadline passes before the answer.
  let nowMs = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => nowMs,
    schedule: (delayMs, callback) =>
      systemClock.schedule(0, () => {
        nowMs += delayMs;
        callback();
      }),
  };
  const removed: string[] = [];
  const lines: string[] = [];
  const server = createServer({
    evaluator: createEvaluator({ transport, maxRetries: 0 }, { clock }),
    remove: async (name) => void removed.push(name),
    log: (line) => void lines.push(line),
  });
  const client = new Client({ name: "test", version: "1" });
  const [own, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(other), client.connect(own)]);
  onTestFinished(() => client.close());
  const call = { name: "remove_file", arguments: { name: "cache.bin" } };
  const { isError, content } = await client.callTool(call);
  answer();
  await held;
  expect({ isError, removed }).toEqual({ isError: true, removed: [] });
  expect(JSON.stringify(content)).toContain("Not run: TimeoutError");
  expect(lines).toEqual([expect.stringMatching(/^gate: "remove_file" undecided: TimeoutError/)]);
});

test("MCP: a call that its client cancels does not run when the answer comes", async () => {
  const { fetch } = createEmulator({ exchanges: [], rules: [{ answers: { harmless: 0.99 } }] });
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const transport = gatewayTransport({
    apiKey: "local",
    env: {},
    async fetch(...call) {
      asked.resolve();
      await ended.promise;
      return fetch(...call);
    },
  });
  const removed: string[] = [];
  const logged = Promise.withResolvers<string>();
  const server = createServer({
    evaluator: createEvaluator({ transport }),
    remove: async (name) => void removed.push(name),
    log: logged.resolve,
  });
  const client = new Client({ name: "test", version: "1" });
  const [own, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(other), client.connect(own)]);
  onTestFinished(() => client.close());
  const controller = new AbortController();
  const { signal } = controller;
  const call = { name: "remove_file", arguments: { name: "cache.bin" } };
  const called = client.callTool(call, undefined, { signal }).catch((error: unknown) => error);
  await asked.promise;
  controller.abort("enough");
  expect(await called).toBeInstanceOf(Error);
  expect(await logged.promise).toMatch(/^gate: "remove_file" undecided/);
  ended.resolve();
  expect(removed).toEqual([]);
});
