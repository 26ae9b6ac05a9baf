import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

function start(...args: string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), ...args]);
  child.stdout.setEncoding("utf8");
  child.stderr.setEncoding("utf8");
  return { child, exited: once(child, "exit") };
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "prints both base URLs and stops on %s",
  async (signal) => {
    const { child, exited } = start("--port", "0");
    const [output] = (await once(child.stdout, "data")) as [string];
    expect(output).toMatch(/gateway\s+http:\/\/127\.0\.0\.1:\d+\/v4\/ai\n/);
    expect(output).toMatch(/direct\s+http:\/\/127\.0\.0\.1:\d+\/direct\n/);
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
  },
);

test("names a wrong argument and how to start", async () => {
  const { child, exited } = start("--tier", "gold");
  const [message] = (await once(child.stderr, "data")) as [string];
  expect(message).toContain("--tier must be free or paid.");
  expect(message).toContain("npm run emulator");
  expect(await exited).toEqual([1, null]);
});
