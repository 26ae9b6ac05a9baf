import { once } from "node:events";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";

/** Starts an emulator at an address, and returns the variables with which a program asks it. */
async function addressOf(options: Parameters<typeof createEmulator>[0]) {
  const emulator = createEmulator({ exchanges: [], ...options });
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  return { AI_GATEWAY_API_KEY: "local", EVALUATOR_BASE_URL: gatewayBaseUrl };
}

test("Claude Code: the hook as a process prints its decision and one line without the command", async () => {
  const env = await addressOf({ rules: [{ answers: { harmless: 0.02 } }] });
  const program = "examples/claude-code-hook/check-tool.ts";
  const hook = spawn(process.execPath, [program], { env });
  hook.stdin.end(JSON.stringify({ tool_name: "Bash", tool_input: { command: "rm -rf /" } }));
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(hook.stdout),
    text(hook.stderr),
    once(hook, "exit"),
  ]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).hookSpecificOutput.permissionDecision).toBe("deny");
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
