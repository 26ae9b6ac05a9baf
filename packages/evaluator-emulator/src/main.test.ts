import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileCache } from "evaluator-kit/testing";
import { afterAll, expect, test } from "vitest";
import { evaluationHeaders } from "./testing/requests.ts";

const folder = mkdtempSync(join(tmpdir(), "emulator-"));
afterAll(() => rmSync(folder, { recursive: true }));

function start(...args: string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), ...args], {
    env: { ...compileCache, INIT_CWD: folder },
  });
  child.stdout.setEncoding("utf8");
  child.stderr.setEncoding("utf8");
  return { child, exited: once(child, "exit") };
}

test("prints both base URLs and stops on SIGINT", async () => {
  const { child, exited } = start("--port", "0");
  const [output] = (await once(child.stdout, "data")) as [string];
  expect(output).toMatch(/gateway\s+http:\/\/127\.0\.0\.1:\d+\/v4\/ai\n/);
  expect(output).toMatch(/direct\s+http:\/\/127\.0\.0\.1:\d+\/direct\n/);
  child.kill("SIGINT");
  expect(await exited).toEqual([0, null]);
});

test("names a wrong argument and how to start", async () => {
  const { child, exited } = start("--tier", "gold");
  const [message] = (await once(child.stderr, "data")) as [string];
  expect(message).toContain("'gold' is invalid. Allowed choices are free, paid.");
  expect(message).toContain("For its options: evaluator-emulator --help\n");
  expect(await exited).toEqual([1, null]);
});

test("plays the rules of a file beside the caller, and the faults asked for, until SIGTERM", async () => {
  writeFileSync(join(folder, "rules.json"), `[{ "answers": { "spam": 0.96 } }]`);
  const fault = "status=503,next=1,path=/v4/ai/evaluation-model";
  const { child, exited } = start("--port", "0", "--rules", "rules.json", "--fault", fault);
  const [output] = (await once(child.stdout, "data")) as [string];
  const gatewayBaseUrl = /gateway\s+(\S+)/.exec(output)?.[1];
  const evaluate = () =>
    fetch(`${gatewayBaseUrl}/evaluation-model`, {
      method: "POST",
      headers: evaluationHeaders,
      body: JSON.stringify({
        state: "hi",
        questions: { spam: { type: "boolean", instructions: "?" } },
      }),
    });
  expect((await evaluate()).status).toBe(503);
  expect(await (await evaluate()).json()).toMatchObject({
    answers: { spam: { probability: 0.96 } },
  });
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});
