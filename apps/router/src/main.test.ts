import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "./testing/start-program.ts";

test.each(["SIGINT", "SIGTERM"] as const)(
  "without a key it starts, says who answers, and ends well on %s",
  async (signal) => {
    const { child, ended, firstOutput } = startProgram("main.ts", { PORT: "0" });
    await firstOutput;
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^The router is at http:\/\/127\.0\.0\.1:\d+\n/);
    expect(stdout).toContain("Answers come from the local emulator");
  },
);

test("with a key it starts on the gateway, says so, and does not show the key", async () => {
  const env = {
    PORT: "0",
    AI_GATEWAY_API_KEY: "planted-key",
    EVALUATOR_BASE_URL: "http://127.0.0.1:9/v4/ai",
  };
  const { child, ended, firstOutput } = startProgram("main.ts", env);
  await firstOutput;
  child.kill("SIGTERM");
  const { stdout, stderr } = await ended;
  expect(stdout).toContain("Answers come from the gateway at http://127.0.0.1:9/v4/ai.");
  expect(stdout + stderr).not.toContain("planted-key");
});

test("at the start it names a model that does not exist", async () => {
  const env = { PORT: "0", ROUTER_MODEL_FAST: "google/gemini-99" };
  const { child, ended } = startProgram("main.ts", env);
  await once(child.stderr, "data");
  child.kill("SIGTERM");
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).toBe(
    "ROUTER_MODEL_FAST: the gateway's price list has no model google/gemini-99.\n",
  );
  expect(stdout).toContain("Not every tier has a price");
});

test("on another address than loopback it says what that means", async () => {
  const env = { PORT: "0", ROUTER_ACCESS_TOKEN: "planted-token-of-many-characters" };
  const { child, ended } = startProgram("main.ts", env, ["--host", "0.0.0.0"]);
  await once(child.stderr, "data");
  child.kill("SIGTERM");
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/^HOST=0\.0\.0\.0: other machines can reach this router\. [^\n]+\n$/);
  expect(stdout + stderr).not.toContain("planted");
});

test("it writes the decision log and the access log it is asked for, without a word of text", async () => {
  const folder = await mkdtemp(join(tmpdir(), "router-main-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const log = join(folder, "decisions.jsonl");
  const { child, ended, firstOutput } = startProgram("main.ts", {
    PORT: "0",
    ROUTER_DECISION_LOG: log,
  });
  const [output] = (await firstOutput) as [Buffer];
  const origin = /http:\S+/.exec(output.toString())?.[0] ?? "";
  const headers = { "content-type": "application/json" };
  const body = '{"message":"a secret plan"}';
  await (await fetch(`${origin}/chat`, { method: "POST", headers, body })).text();
  child.kill("SIGTERM");
  const { stdout, stderr } = await ended;
  expect(stdout).toMatch(/ POST \/chat 200 \d+ms /);
  expect(stderr).toBe("");
  const record = await readFile(log, "utf8");
  expect(JSON.parse(record)).toMatchObject({ door: "chat", outcome: "replied" });
  expect(stdout + record).not.toContain("secret");
});

test.each([["--hosts"], ["now"], ["--port"]])("%s shows the usage", async (word) => {
  const { code, stderr } = await startProgram("main.ts", {}, [word]).ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "Usage: npm start -- [--host <address>] [--port <number>]\n",
  });
});

test("a taken port is one line that names it and says what to do", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  expect(await startProgram("main.ts", { PORT: String(port) }).ended).toEqual({
    code: 1,
    stdout: "",
    stderr: `Port ${port} on 127.0.0.1 is taken; stop what uses it, or set PORT to a free one, such as PORT=3001.\n`,
  });
});

const wrong: [env: Record<string, string>, named: string][] = [
  [{ PORT: "70000" }, 'PORT="70000"'],
  [{ HOST: "0.0.0.0" }, 'HOST="0.0.0.0"'],
  [{ ROUTER_ACCESS_TOKEN: "planted" }, "ROUTER_ACCESS_TOKEN"],
  [{ ROUTER_DECISION_LOG: "/nowhere/log" }, 'ROUTER_DECISION_LOG="/nowhere/log"'],
  [{ AI_GATEWAY_API_KEY: "planted key" }, "AI_GATEWAY_API_KEY"],
  [{ AI_GATEWAY_API_KEY: "planted", EVALUATOR_TRANSPORT: "pigeon" }, "EVALUATOR_TRANSPORT"],
  [{ AI_GATEWAY_API_KEY: "planted", EVALUATOR_TRANSPORT: "direct" }, "EVALUATOR_DIRECT_API_KEY"],
];

test.each(wrong)("%j ends it with one line and no stack", async (env, named) => {
  const { code, stdout, stderr } = await startProgram("main.ts", { PORT: "0", ...env }).ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(named);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).not.toContain("planted");
});
