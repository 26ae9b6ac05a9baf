import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { env as programEnvironment } from "node:process";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { compileCache } from "evaluator-kit/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilPrinted } from "./run-command.ts";

const root = dirname(import.meta.dirname);
const patiently = { timeout: 120_000 };
const json = { "content-type": "application/json" };
const body = '{"message":"hi"}';
let npm: ChildProcess;
let origin: string;

beforeAll(async () => {
  npm = startNpm();
  [, origin = ""] = await untilPrinted(npm, /router is at (\S+)/);
});
afterAll(() => {
  try {
    if (npm.pid !== undefined) process.kill(-npm.pid, "SIGKILL");
  } catch {} // nothing of it is left
});

/** Starts the router by npm alone, as a supervisor does. */
function startNpm(): ChildProcess {
  const names = Object.keys(programEnvironment).filter((name) => /^(PATH|HOME)$/.test(name));
  const own = Object.fromEntries(names.map((name) => [name, programEnvironment[name]]));
  const env = { ...own, ...compileCache, PORT: "0" };
  return spawn("npm", ["start"], { cwd: root, env, detached: true });
}

async function isReachable(origin: string): Promise<boolean> {
  return fetch(origin).then(
    () => true,
    () => false,
  );
}

test("npm start answers a greeting with the tier nano", async () => {
  const page = await fetch(origin);
  expect(await page.text()).toContain("local emulator");
  const chat = await fetch(`${origin}/chat`, { method: "POST", headers: json, body });
  expect(await chat.json()).toMatchObject({ tier: "nano", replyError: null });
});

// The last, because nothing is left to ask after it.
test("ending npm start by SIGTERM ends the router after the answers in flight", async () => {
  const headers = { ...json, "content-length": body.length };
  const chat = request(`${origin}/chat`, { method: "POST", headers, agent: false });
  chat.write(body.slice(0, 5));
  const metrics = async () => (await fetch(`${origin}/metrics`)).text();
  await expect.poll(metrics, patiently).toContain("router_calls_in_flight 1\n");
  npm.kill("SIGTERM");
  await once(npm, "exit");
  await expect.poll(() => isReachable(origin), patiently).toBe(false);
  chat.end(body.slice(5));
  const [answer] = (await once(chat, "response")) as [IncomingMessage];
  expect(JSON.parse(await text(answer))).toMatchObject({ tier: "nano", replyError: null });
});
