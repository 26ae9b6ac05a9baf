import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import { readCodeBlocks } from "./read-readme.ts";
import { runCommand, startUntil } from "./run-command.ts";

const root = dirname(import.meta.dirname);
const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};
const commands = readCodeBlocks("README.md", "sh").flatMap((block) => block.trim().split("\n"));

// The first two run in every fresh clone, npm start in npm-start.test.ts too. What triage does is in
// calibration.test.ts, whose page begins with the same command, and what is packed and installed in
// packages/install.test.ts; each other command has a test below.
test("shows these commands", () => {
  expect(commands).toEqual([
    "npm ci && npm start",
    "npm ci && npm test",
    "npm run build && npm pack ./packages/evaluator-*/dist",
    "cd ../your-project && npm install ../evaluator/evaluator-client-*.tgz",
    "npm run triage -- fixtures/mail/inbox.json --offline",
    "npm run emulator -- --port 8787",
    "npm run self-check",
    'npm run evaluator -- ask --state README.md --boolean "Is it about mail?" --engine gateway=http://127.0.0.1:8787/v4/ai',
    "npm run evaluator -- compare --help",
  ]);
});

test("npm run emulator prints two base URLs that answer", async () => {
  const command = "npm run emulator -- --port 0";
  const printed = /gateway +(\S+)\ndirect +(\S+)\n/;
  const [, gateway = "", direct = ""] = await startUntil(command, printed, { cwd: root });
  const models = await fetch(new URL("/v1/models", gateway));
  expect(await models.json()).toMatchObject({ object: "list" });
  const releases = await fetch(`${direct}/v1/models`);
  expect(await releases.json()).toHaveProperty("models");
});

test("npm run self-check passes on recordings", async () => {
  const { exitCode, stdout } = await runCommand("npm run self-check", { cwd: root });
  expect(stdout).toContain("3 of 3 prompts passed");
  expect(exitCode).toBe(0);
});

test("npm run evaluator asks the emulator, and tells how engines are compared", async () => {
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  const ask = commands.find((command) => command.includes("evaluator -- ask")) ?? "";
  const elsewhere = ask.replace("http://127.0.0.1:8787/v4/ai", gatewayBaseUrl);
  const asked = await runCommand(elsewhere, { cwd: root });
  expect(asked).toMatchObject({ exitCode: 0 });
  expect(asked.stdout).toMatch(/^boolean {2}yes 0\.\d\d$/m);
  // The script itself: that npm starts it was seen above.
  const help = await runCommand(`${scripts["evaluator"]} compare --help`, { cwd: root });
  expect(help.stdout).toContain("Usage: evaluator compare");
});
