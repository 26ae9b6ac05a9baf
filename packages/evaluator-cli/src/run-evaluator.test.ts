import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runEvaluator } from "./run-evaluator.ts";
import { calibrate, folderWith, run } from "./testing/run.ts";

test.each([
  [[], "Name a command: ask, run, work, "],
  [["callibrate"], "Unknown command 'callibrate' (Did you mean calibrate?)"],
  [["calibrate"], "Missing required argument 'labels'."],
  [["calibrate", "a"], "--answers is missing"],
  [
    [...calibrate, "--require", "5"],
    "Option '--require <share>' argument '5' is invalid. Use a share above 0 and below 1, such as 5%.",
  ],
  [
    [...calibrate, "--cost", "falseAct=5"],
    "is invalid. Use costs above 0, such as falseAct=5,missedAct=1.",
  ],
  [[...calibrate, "--by", "truth"], "is invalid. Use a column of labels, such as group."],
  [[...calibrate, "--requier", "5%"], "Unknown option '--requier' (Did you mean --require?)"],
  [["pick", "--answers", "answers.ndjson"], "Required option '--budget <n>' not specified."],
  [
    ["pick", "--answers", "answers.ndjson", "--budget", "5", "--uncertain"],
    "Unknown option '--uncertain'",
  ],
  [["check", "calibration.json"], "Required option '--labels <file>' not specified."],
  [["check", "--labels", "a"], "Missing required argument 'calibration.json'."],
  [["drift", "--before", "a"], "Required option '--after <file>' not specified."],
])("the words %j mean nothing: %s", async (words, message) => {
  const folder = await folderWith(40);
  const { exitCode, stderr } = await run(folder, words);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/\nFor its options: evaluator-cli(?: [a-z]+)? --help\n$/);
});

test.each([
  ["--help"],
  ["calibrate", "--help"],
  ["pick", "-h"],
  ["check", "--help"],
  ["drift", "--help"],
  ["ask", "--help"],
  ["doctor", "--help"],
  ["compare", "--help"],
  ["mcp", "--help"],
  ["emulator", "--help"],
])("%s %s prints usage and examples", async (...words) => {
  const { exitCode, stdout } = await run("/", words);
  expect(exitCode).toBe(0);
  const [name = ""] = words.length === 2 ? words : [];
  expect(stdout).toContain(`Usage: evaluator-cli ${name}`);
  expect(stdout).toMatch(new RegExp(`^Examples\n(?:  .*evaluator-cli ${name}.*\n)+`, "m"));
});

test("the help of each command has its own options alone, in at most 45 lines", async () => {
  const { stdout } = await run("/", ["--help"]);
  const [, listed = ""] = /\nCommands:\n(.*?)\n\n/s.exec(stdout) ?? [];
  const names = [...listed.matchAll(/^ {2}(\w+)/gm)].map(([, name = ""]) => name);
  expect(names).toEqual(expect.arrayContaining(["ask", "run", "demo", "emulator", "record"]));
  for (const name of names) {
    const help = await run("/", [name, "--help"]);
    expect({ name, long: help.stdout.split("\n").length > 46 }).toEqual({ name, long: false });
    expect(help.stdout).toContain(`Usage: evaluator-cli ${name}`);
    expect(help.stdout.includes("--skill")).toBe(name === "demo");
  }
});

test("--version prints the version of the package, and so does the emulator's", async () => {
  const printed = [await run("/", ["--version"]), await run("/", ["emulator", "--version"])];
  for (const { exitCode, stdout } of printed) {
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  }
});

test.each([["help"], ["help", "ask"], ["help", "emulator"]])(
  "%s %s prints a help",
  async (...words) => {
    const [, name] = words;
    const help = name === undefined ? ["--help"] : [name, "--help"];
    expect(await run("/", words)).toEqual(await run("/", help));
  },
);

test("the emulator starts, and its errors name the typed command", async () => {
  const folder = await folderWith(1);
  const { exitCode, stderr } = await run(folder, ["emulator", "--tier", "gold"]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("\nFor its options: evaluator-cli emulator --help\n");
  const interruption = new AbortController();
  const context = createTestContext({
    signal: interruption.signal,
    stdout: {
      write: (text) => text.includes("gateway  http://127.0.0.1:") && interruption.abort(),
    },
  });
  expect(await runEvaluator(["emulator", "--port", "0"], context)).toBe(0);
});

test("sample writes the tutorial's files, and never over others", async () => {
  const folder = await temporaryFolder();
  expect(await run(folder, ["sample"])).toMatchObject({ exitCode: 0, stderr: "" });
  const names = ["questions.json", "rules.json", "tickets.csv", "truth.ndjson"];
  expect((await readdir(join(folder, "tickets"))).toSorted()).toEqual(names);
  const again = await run(folder, ["sample"]);
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toMatch(/tickets exists already\. Name a path that does not exist yet\.\n$/);
});
