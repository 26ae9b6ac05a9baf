import { dirname } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import { readCodeBlocks, runCommand, startUntil } from "./run-command.ts";

const root = dirname(import.meta.dirname);
const commands = readCodeBlocks("README.md", "sh").flatMap((block) => block.trim().split("\n"));

// `npm start` is tested in npm-start.test.ts, the triage in calibration.test.ts, packing and installing
// in packages/install.test.ts.
test("shows these commands", () => {
  expect(commands).toEqual([
    "npm install evaluator-client",
    "npm ci && npm run build && npm pack ./packages/*/dist ./apps/*/dist",
    "cd ../your-project && npm install ../evaluator/evaluator-client-*.tgz",
    "npm ci && npm start",
    "npx evaluator-triage fixtures/mail/inbox.json --offline",
    "npx evaluator-emulator --port 8787",
    "npx evaluator-router self-check",
    'npx evaluator-cli ask --state README.md --boolean "Is it about mail?" --engine gateway=http://127.0.0.1:8787/v4/ai',
  ]);
});

test("npx evaluator-emulator prints two base URLs that answer", async () => {
  const command = "npx evaluator-emulator --port 0";
  const printed = /gateway +(\S+)\ndirect +(\S+)\n/;
  const [, gateway = "", direct = ""] = await startUntil(command, printed, { cwd: root });
  const models = await fetch(new URL("/v1/models", gateway));
  expect(await models.json()).toMatchObject({ object: "list" });
  const releases = await fetch(`${direct}/v1/models`);
  expect(await releases.json()).toHaveProperty("models");
});

test("npx evaluator-router self-check passes on recordings", async () => {
  const { exitCode, stdout } = await runCommand("npx evaluator-router self-check", { cwd: root });
  expect(stdout).toContain("3 of 3 prompts passed");
  expect(exitCode).toBe(0);
});

test("npx evaluator-cli asks the emulator", async () => {
  const emulator = await startEmulator();
  const ask = commands.find((command) => command.includes("evaluator-cli ask")) ?? "";
  const elsewhere = ask.replace("http://127.0.0.1:8787/v4/ai", emulator);
  const asked = await runCommand(elsewhere, { cwd: root });
  expect(asked).toMatchObject({ exitCode: 0 });
  expect(asked.stdout).toMatch(/^boolean {2}yes 0\.\d\d$/m);
});

async function startEmulator(): Promise<string> {
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  return gatewayBaseUrl;
}
