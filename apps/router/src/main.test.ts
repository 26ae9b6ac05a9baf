import { existsSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { plantedKey } from "./testing/keep-output.ts";
import { startProgram, startRouterHere } from "./testing/start-program.ts";

/** How a router that was started without a key, and ended well, has printed. */
const startedWell = {
  code: 0,
  stdout: expect.stringMatching(
    /^The router is at http:\/\/127\.0\.0\.1:\d+ \(asked to decide: the local emulator; to reply: the local emulator\)\n[^]*Answers come from the local emulator/,
  ),
  stderr: "",
};

test("without a key it starts, says who answers, and ends well on SIGINT", async () => {
  const { child, ended, firstOutput } = startProgram("main.ts", { PORT: "0" });
  await firstOutput;
  child.kill("SIGINT");
  expect(await ended).toEqual(startedWell);
});

test("with a key it starts on the gateway, and says so", async () => {
  const env = {
    PORT: "0",
    AI_GATEWAY_API_KEY: plantedKey,
    EVALUATOR_BASE_URL: "http://127.0.0.1:9/v4/ai",
  };
  const { interrupt, ended, firstOutput } = startRouterHere(env);
  await firstOutput;
  interrupt();
  const { stdout } = await ended;
  expect(stdout).toContain(
    "\nDecisions are asked of typesafe-ai/jev at http://127.0.0.1:9/v4/ai/evaluation-model. Replies come from the gateway at http://127.0.0.1:9/v4/ai.\n",
  );
});

test("at the start it names a model that does not exist", async () => {
  const env = { PORT: "0", ROUTER_MODEL_FAST: "google/gemini-99" };
  const { interrupt, ended, firstWarning } = startRouterHere(env);
  await firstWarning;
  interrupt();
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).toBe(
    "The gateway's price list has no model google/gemini-99, which is set for fast; correct it in ROUTER_MODEL_*, ROUTER_FALLBACK_MODELS or the file of ROUTER_CONFIG.\n",
  );
  expect(stdout).toContain("Not every tier has a price");
});

test("at the start one line names the set variables that have no effect", async () => {
  const env = { PORT: "0", ROUTER_TIES: "up", ROUTER_CONTEXT: "turns" };
  const { interrupt, ended, firstOutput } = startRouterHere(env);
  await firstOutput;
  interrupt();
  const { code, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/^ROUTER_CONTEXT and ROUTER_TIES: no effect any more\. [^\n]+\n$/);
});

test("on another address than loopback it says what that means", async () => {
  const env = { PORT: "0", ROUTER_ACCESS_TOKEN: "planted-token-of-many-characters" };
  const { interrupt, ended, firstWarning } = startRouterHere(env, ["--host", "0.0.0.0"]);
  await firstWarning;
  interrupt();
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/^--host 0\.0\.0\.0: other machines can reach this router\. [^\n]+\n$/);
  expect(stdout + stderr).not.toContain("planted");
});

test("it writes the decision log and the access log it is asked for, without a word of text", async () => {
  const log = join(await temporaryFolder(), "decisions.jsonl");
  const env = { PORT: "0", ROUTER_DECISION_LOG: log };
  const { interrupt, ended, origin, keep } = startRouterHere(env);
  const headers = { "content-type": "application/json" };
  const body = '{"message":"a secret plan"}';
  keep(await (await fetch(`${await origin}/chat`, { method: "POST", headers, body })).text());
  interrupt();
  const { stdout, stderr } = await ended;
  expect(stdout).toMatch(/ POST \/chat 200 \d+ms /);
  expect(stderr).toBe("");
  const record = await readFile(log, "utf8");
  keep(record);
  expect(JSON.parse(record)).toMatchObject({ endpoint: "chat", outcome: "replied" });
  expect(stdout + record).not.toContain("secret");
});

test("SIGHUP makes it go on in a new decision log, for a rotation, and SIGTERM ends it well", async () => {
  const log = join(await temporaryFolder(), "decisions.jsonl");
  const env = { PORT: "0", ROUTER_DECISION_LOG: log, ROUTER_ACCESS_LOG: "off" };
  const { child, ended, firstOutput } = startProgram("main.ts", env);
  const [output] = (await firstOutput) as [Buffer];
  const origin = /http:\S+/.exec(output.toString())?.[0] ?? "";
  const decide = async () => {
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    await (await fetch(`${origin}/decide`, { ...init, body: '{"message":"hi"}' })).text();
  };
  const linesIn = async (path: string) =>
    (await readFile(path, "utf8").catch(() => "")).split("\n").length - 1;
  await decide();
  await expect.poll(() => linesIn(log)).toBe(1);
  await rename(log, `${log}.1`);
  child.kill("SIGHUP");
  await expect.poll(() => existsSync(log)).toBe(true);
  await decide();
  child.kill("SIGTERM");
  expect(await ended).toEqual(startedWell);
  expect([await linesIn(`${log}.1`), await linesIn(log)]).toEqual([1, 1]);
});
