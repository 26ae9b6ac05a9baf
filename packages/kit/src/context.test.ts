import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { readContext, trimEnvironment } from "./context.ts";

function programWith(given: { env?: Record<string, string>; isTTY?: boolean }) {
  const stdin = Object.assign(new PassThrough(), { isTTY: given.isTTY ?? false });
  const stderr = Object.assign(new PassThrough(), { isTTY: given.isTTY ?? false });
  const program = { env: given.env ?? {}, cwd: () => "/root", stdin, stdout: stderr, stderr };
  return { stdin, program: program as unknown as NodeJS.Process };
}

test("typed paths are relative to where the person stands, also under npm", () => {
  const here = readContext(programWith({}).program, new AbortController());
  const npm = programWith({ env: { INIT_CWD: "/home/ada" } });
  expect(here.cwd).toBe("/root");
  expect(readContext(npm.program, new AbortController()).cwd).toBe("/home/ada");
});

test("where no person is, nobody is asked", () => {
  expect(readContext(programWith({}).program, new AbortController()).confirm).toBeNull();
});

test.each([
  ["y\n", true],
  ["Yes\n", true],
  ["\n", false],
  ["no\n", false],
  ["yesterday\n", false],
])("%j means %s", async (typed, meant) => {
  const { stdin, program } = programWith({ isTTY: true });
  const { confirm } = readContext(program, new AbortController());
  const answer = confirm?.("Go on? ");
  stdin.write(typed);
  expect(await answer).toBe(meant);
});

test("an interruption answers no", async () => {
  const interruption = new AbortController();
  const { confirm } = readContext(programWith({ isTTY: true }).program, interruption);
  const answer = confirm?.("Go on? ");
  interruption.abort();
  expect(await answer).toBe(false);
});

test("a program gets its variables without the space around them", () => {
  const { program } = programWith({ isTTY: false });
  const { env } = readContext(
    Object.assign(program, { env: { A: " a ", B: "  " } }),
    new AbortController(),
  );
  expect(env).toEqual({ A: "a" });
});

test("a blank variable counts as unset, space around a value does not count", () => {
  expect(trimEnvironment({ A: " a ", B: "  ", C: undefined })).toEqual({ A: "a" });
});
