import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import { readCodeBlocks } from "./read-readme.ts";
import { runCommand, startUntil } from "./run-command.ts";

const root = dirname(import.meta.dirname);
const commands = readCodeBlocks("README.md", "sh").flatMap((block) => block.trim().split("\n"));

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "readme-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

// The first two run in every fresh clone; each other command has a test below.
test("shows these commands", () => {
  expect(commands).toEqual([
    "npm ci && npm start",
    "npm ci && npm test",
    "npm run triage -- fixtures/mail/inbox.json --offline",
    "npm run emulator -- --port 8787",
    "npm run self-check",
    'npm run evaluator -- ask --state README.md --boolean "Is it about mail?" --engine gateway=http://127.0.0.1:8787/v4/ai',
    "npm run evaluator -- compare --help",
  ]);
});

test("npm start answers a greeting with the tier nano", async () => {
  const env = { PORT: "0" };
  const [, origin = ""] = await startUntil("npm start", /router is at (\S+)/, { cwd: root, env });
  const page = await fetch(origin);
  expect(await page.text()).toContain("local emulator");
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ message: "hi" });
  const chat = await fetch(`${origin}/chat`, { method: "POST", headers, body });
  expect(await chat.json()).toMatchObject({ tier: "nano", replyError: null });
});

test("npm run triage writes the file and prints the table", async () => {
  const folder = await temporaryFolder();
  await cp(`${root}/fixtures/mail/inbox.json`, join(folder, "inbox.json"));
  // The same command from another folder, with a path that is relative to it.
  const command = `npm --prefix ${root} run triage -- inbox.json --offline`;
  const { exitCode, stdout } = await runCommand(command, { cwd: folder });
  expect(exitCode).toBe(0);
  const inbox: unknown[] = JSON.parse(await readFile(join(folder, "inbox.json"), "utf8"));
  const results: unknown[] = JSON.parse(await readFile(join(folder, "inbox.triage.json"), "utf8"));
  expect(results).toHaveLength(inbox.length);
  expect(stdout).toMatch(/^imp +conf +scam +deal +category +date +from +subject$/m);
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
  const help = await runCommand("npm run evaluator -- compare --help", { cwd: root });
  expect(help.stdout).toContain("Usage: evaluator compare");
});
