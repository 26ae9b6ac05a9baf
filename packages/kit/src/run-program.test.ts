import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { CliContext } from "./context.ts";
import { CliError, InterruptedError } from "./errors.ts";
import { type Program, runProgram, runToExitCode } from "./run-program.ts";
import { createTestContext, temporaryFolder } from "./testing/test-context.ts";

const options = { name: "The program" };

async function outcomeOf(program: Program, signal?: AbortSignal) {
  const context = createTestContext(signal && { signal });
  const exitCode = await runToExitCode(program, [], { ...options, context });
  return { exitCode, stderr: context.printed.stderr };
}

function throwing(error: unknown): Program {
  return async () => {
    throw error;
  };
}

test("a program's own exit code is kept", async () => {
  expect(await outcomeOf(async () => 2)).toEqual({ exitCode: 2, stderr: "" });
});

test("an expected error is its message", async () => {
  const outcome = await outcomeOf(throwing(new CliError("The disk is full.", { exitCode: 3 })));
  expect(outcome).toEqual({ exitCode: 3, stderr: "The disk is full.\n" });
});

test("an unexpected error is one line without its message, which may quote a text", async () => {
  const { exitCode, stderr } = await outcomeOf(throwing(new TypeError("the mail said hello")));
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^The program failed with an unexpected TypeError at .*run-program\.test\.ts.*\n$/,
  );
});

test("another package's error is its message where it is meant for a person", async () => {
  const context = createTestContext();
  const program = throwing(new RangeError("Set KEY."));
  const isForPerson = (error: Error) => error instanceof RangeError;
  expect(await runToExitCode(program, [], { ...options, isForPerson, context })).toBe(1);
  expect(context.printed.stderr).toBe("Set KEY.\n");
});

test("an interruption is one word and its own exit code, in a library's error too", async () => {
  const reason = new InterruptedError("SIGINT");
  const abort = new DOMException("This operation was aborted", "AbortError");
  for (const error of [reason, abort]) {
    const outcome = await outcomeOf(throwing(error), AbortSignal.abort(reason));
    expect(outcome).toEqual({ exitCode: 130, stderr: "Interrupted.\n" });
  }
});

test("an interruption for a reason of somebody else's is one too", async () => {
  const reason = new Error("enough");
  const outcome = await outcomeOf(throwing(reason), AbortSignal.abort(reason));
  expect(outcome).toEqual({ exitCode: 130, stderr: "Interrupted.\n" });
});

function start(
  body: string,
  stdout: number | "pipe" = "pipe",
  { limit = null, prelude = "" }: { limit?: string | null; prelude?: string } = {},
): ChildProcess {
  const module = new URL("run-program.ts", import.meta.url).href;
  const program = `
    ${prelude}
    const { runProgram } = await import(${JSON.stringify(module)});
    await runProgram(async (words, { stdout, signal }) => { ${body} }, { name: "The program" });`;
  const words = [process.execPath, "--input-type=module", "--eval", program];
  const [command = "", ...rest] =
    limit === null ? words : ["bash", "-c", `${limit}; exec "$0" "$@"`, ...words];
  return spawn(command, rest, { stdio: ["ignore", stdout, "pipe"] });
}

async function endOf(child: ChildProcess) {
  if (child.stderr === null) throw new Error("Its errors are not read.");
  const stderr = text(child.stderr);
  const [exitCode] = await once(child, "close");
  return { exitCode, stderr: await stderr };
}

const waitForSignal = `
  const timer = setInterval(() => {}, 1000);
  stdout.write("ready");
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  clearInterval(timer);`;

// A process of Windows is not told of another's signal: it ends.
const hasSignals = process.platform !== "win32";

test.runIf(hasSignals).each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s lets a program finish and ends it with %i", async (signal, code) => {
  const child = start(`${waitForSignal} throw signal.reason;`);
  child.stdout?.once("data", () => child.kill(signal));
  expect(await endOf(child)).toEqual({ exitCode: code, stderr: "Interrupted.\n" });
});

test.runIf(hasSignals)("the second signal ends a program that does not finish", async () => {
  const child = start(`
    setInterval(() => {}, 1000);
    signal.addEventListener("abort", () => stdout.write("again"));
    stdout.write("ready");
    await new Promise(() => {});`);
  child.stdout?.on("data", () => child.kill("SIGINT"));
  await once(child, "close");
  expect(child.signalCode).toBe("SIGINT");
});

test("a reader that leaves ends the printing and not the run", async () => {
  const child = start(`
    stdout.write("ready");
    await new Promise((resolve) => process.stderr.write("x", resolve));
    for (let i = 0; i < 50; i += 1) {
      stdout.write("x".repeat(100_000));
      await new Promise(setImmediate);
    }
    return 7;`);
  child.stdout?.destroy();
  expect(await endOf(child)).toEqual({ exitCode: 7, stderr: "x" });
});

test.each(["x", "a long line ".repeat(10_000)])(
  "a reader that leaves ends what is still being made for it",
  async (line) => {
    const print = new URL("print-texts.ts", import.meta.url).href;
    const child = start(`
      const { printTexts } = await import(${JSON.stringify(print)});
      const endless = async function* () { for (;;) yield ${JSON.stringify(line)}; };
      return await printTexts(endless(), { stdout, signal }) ? 1 : 7;`);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await endOf(child)).toEqual({ exitCode: 7, stderr: "" });
  },
);

test.skipIf(!existsSync("/dev/full"))("a full disk under the output is said", async () => {
  const full = openSync("/dev/full", "w");
  const child = start(`stdout.write("x"); return 0;`, full);
  closeSync(full);
  expect(await endOf(child)).toEqual({
    exitCode: 1,
    stderr: "The program cannot print: no space left on device. Make room there and run again.\n",
  });
});

// The limit lets a part of a text through, as a nearly full disk does.
test.runIf(hasSignals)("a file that takes a part of the last text is a failure", async () => {
  const path = join(await temporaryFolder(), "o.json");
  const file = openSync(path, "w");
  const child = start(`stdout.write("x".repeat(20_000)); return 0;`, file, {
    limit: "ulimit -f 8",
  });
  closeSync(file);
  expect(await endOf(child)).toEqual({
    exitCode: 1,
    stderr: "The program cannot print: file too large. Print to another disk.\n",
  });
});

const shortWrites = `
  const { writeSync } = process.getBuiltinModule("fs");
  process.getBuiltinModule("fs").writeSync = (file, bytes, at = 0) =>
    writeSync(file, bytes, at, Math.min(7, bytes.length - at));
  process.getBuiltinModule("module").syncBuiltinESMExports();`;

test("a text that a file takes in parts is whole", async () => {
  const path = join(await temporaryFolder(), "o.json");
  const file = openSync(path, "w");
  const child = start(`stdout.write("né".repeat(50)); return 0;`, file, { prelude: shortWrites });
  closeSync(file);
  expect(await endOf(child)).toEqual({ exitCode: 0, stderr: "" });
  expect(await readFile(path, "utf8")).toBe("né".repeat(50));
});

test.runIf(hasSignals)("Ctrl-C ends what is being made for a reader that has stalled", async () => {
  const print = new URL("print-texts.ts", import.meta.url).href;
  const child = start(`
    const { printTexts } = await import(${JSON.stringify(print)});
    const endless = async function* () { for (;;) yield "a line".repeat(10_000); };
    process.stderr.write("ready");
    return await printTexts(endless(), { stdout, signal }) ? 1 : 7;`);
  child.stderr?.setEncoding("utf8").on("data", (said: string) => {
    if (said === "ready") child.kill("SIGINT");
    // Only now anything is read.
    else child.stdout?.resume();
  });
  expect(await endOf(child)).toEqual({ exitCode: 130, stderr: "readyInterrupted.\n" });
});

test("an error that nothing catches is one line too", async () => {
  const child = start(
    `setImmediate(() => { throw new RangeError("secret"); }); await new Promise(() => {});`,
  );
  const { exitCode, stderr } = await endOf(child);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^The program failed with an unexpected RangeError at .*\n$/);
});

function programWith(given: { env?: Record<string, string>; isTTY?: boolean }) {
  const stdin = Object.assign(new PassThrough(), { isTTY: given.isTTY ?? false });
  const stderr = Object.assign(new PassThrough(), { isTTY: given.isTTY ?? false });
  const { env = {} } = given;
  const parts = { env, argv: [], cwd: () => "/root", stdin, stdout: stderr, stderr };
  return Object.assign(new EventEmitter(), parts) as unknown as NodeJS.Process & typeof parts;
}

async function contextOf(program: NodeJS.Process): Promise<CliContext> {
  const { promise, resolve } = Promise.withResolvers<CliContext>();
  const take: Program = async (_, context) => {
    resolve(context);
    return 0;
  };
  await runProgram(take, options, program);
  return await promise;
}

test("typed paths are relative to where the person stands, also under npm", async () => {
  const here = await contextOf(programWith({}));
  const npm = programWith({ env: { INIT_CWD: "/home/ada" } });
  expect(here.cwd).toBe("/root");
  expect((await contextOf(npm)).cwd).toBe("/home/ada");
});

test("where no person is, nobody is asked", async () => {
  expect((await contextOf(programWith({}))).confirm).toBeNull();
});

test.each([
  ["y\n", true],
  ["Yes\n", true],
  ["\n", false],
  ["no\n", false],
  ["yesterday\n", false],
])("%j means %s", async (typed, meant) => {
  const program = programWith({ isTTY: true });
  const { confirm } = await contextOf(program);
  const answer = confirm?.("Go on? ");
  program.stdin.write(typed);
  expect(await answer).toBe(meant);
});

test("an interruption answers no", async () => {
  const program = programWith({ isTTY: true });
  const { confirm } = await contextOf(program);
  const answer = confirm?.("Go on? ");
  program.emit("SIGINT");
  expect(await answer).toBe(false);
});

test("a program gets its variables without the space around them", async () => {
  const { env } = await contextOf(programWith({ env: { A: " a ", B: "  " } }));
  expect(env).toEqual({ A: "a" });
});
