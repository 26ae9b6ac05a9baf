import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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
