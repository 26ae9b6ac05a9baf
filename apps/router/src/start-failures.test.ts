import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { runHere, startProgram, startRouterHere } from "./testing/start-program.ts";

test.each([["--hosts"], ["now"], ["--port"]])("%s says how to ask for the usage", async (word) => {
  const { code, stderr } = await startRouterHere({}, [word]).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^[^\n]+\nFor its options: evaluator-router (serve )?--help\n$/);
});

test("a taken port is one line that names it and says what to do", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  expect(await startProgram("main.ts", { PORT: String(port) }).ended).toEqual({
    code: 1,
    stdout: "",
    stderr: `Port ${port} on 127.0.0.1 is taken; stop what uses it, or choose a free one, such as PORT=${port + 1}.\n`,
  });
});

test("a taken default port gives way to the next free one, with a line about it", async () => {
  const taken = createServer().listen(3000, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening").catch(() => undefined); // taken by another program
  const { origin, interrupt, ended } = startRouterHere({});
  const { port } = new URL(await origin);
  expect(Number(port)).toBeGreaterThan(3000);
  interrupt();
  expect(await ended).toMatchObject({
    code: 0,
    stderr: `Port 3000 on 127.0.0.1 is taken; this is port ${port}.\n`,
  });
});

test("a start says that the ledger of its budgets cannot be written", async () => {
  const folder = await temporaryFolder();
  const env = { PORT: "0", ROUTER_KEYS: join(folder, "router-keys.json") };
  await runHere("keys", env, ["add", "ada", "--usd-per-day", "1"]);
  await mkdir(join(folder, "router-keys.spend.sqlite"));
  const { origin, interrupt, ended } = startRouterHere(env);
  expect(await origin).not.toBe("");
  interrupt();
  const { code, stderr } = await ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/^The ledger of the budgets, beside ROUTER_KEYS, cannot be written: /);
});

/** Starts the router with this in the place of the bundler of its page, whose parent it is. */
async function startWithBundler(script: string) {
  const path = join(await temporaryFolder(), "bundler");
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return startProgram("main.ts", { PORT: "0", ESBUILD_BINARY_PATH: path }).ended;
}

// A program of its own each, since a process bundles the page once.
test("a start whose bundler the same SIGTERM ends is interrupted, and one that ends alone is a defect", async () => {
  const [interrupted, defect] = await Promise.all([
    startWithBundler("kill -TERM $PPID"),
    startWithBundler("exit 1"),
  ]);
  expect(interrupted).toEqual({ code: 143, stdout: "", stderr: "Interrupted.\n" });
  expect(defect).toMatchObject({ code: 1, stdout: "" });
  expect(defect.stderr).toMatch(/^The router failed with an unexpected Error at /);
});

test.each([
  [["--port", "abc"], "Use a whole number from 0 to 65535, such as 8080."],
  [["--port", "70000"], "Use a whole number from 0 to 65535"],
  [["--host", "0.0.0.0"], '--host "0.0.0.0" is not a loopback address'],
])("%j is named as it was typed", async (words, message) => {
  const { code, stderr } = await startRouterHere({}, words).ended;
  expect(code).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/PORT=|HOST=/);
});

test("a typed port that is taken is named as it was typed", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const { stderr } = await startRouterHere({}, ["--port", String(port)]).ended;
  expect(stderr).toContain(`choose a free one, such as --port ${port + 1}.`);
});

const wrong: [env: Record<string, string>, named: string][] = [
  [{ PORT: "70000" }, 'PORT="70000"'],
  [{ HOST: "0.0.0.0" }, 'HOST="0.0.0.0"'],
  [{ ROUTER_ACCESS_TOKEN: "planted" }, "ROUTER_ACCESS_TOKEN"],
  [
    { ROUTER_DECISION_LOG: "/nowhere/log" },
    "Cannot write /nowhere/log: no such file or directory. Check the path. ROUTER_DECISION_LOG names it.",
  ],
  [{ ROUTER_KEYS: "/nowhere/keys.json" }, "Cannot read /nowhere/keys.json: no such file"],
  [{ ROUTER_KEYS: "mysql://me:planted@h/keys" }, "ROUTER_KEYS is neither a file nor the address"],
  [{ ROUTER_KEYS: "/dev/null" }, "ROUTER_KEYS=/dev/null:1 is not JSON here."],
  [{ ROUTER_CONFIG: "/dev/null" }, "ROUTER_CONFIG=/dev/null: the file is not JSON at line 1"],
  [{ ROUTER_FIT: "/nowhere/fit.json" }, 'ROUTER_FIT="/nowhere/fit.json"'],
  [{ AI_GATEWAY_API_KEY: "planted key" }, "AI_GATEWAY_API_KEY"],
  [{ AI_GATEWAY_API_KEY: "planted", EVALUATOR_TRANSPORT: "pigeon" }, "EVALUATOR_TRANSPORT"],
  [
    { AI_GATEWAY_API_KEY: "planted", EVALUATOR_TRANSPORT: "direct", EVALUATOR_DIRECT_API_KEY: "" },
    "EVALUATOR_DIRECT_API_KEY",
  ],
];

test.each(wrong)("%j ends it with one line and no stack", async (env, named) => {
  const { code, stdout, stderr } = await startRouterHere({ PORT: "0", ...env }).ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(named);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).not.toContain("planted");
});
