import { createTestContext } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runEvaluator } from "./run-evaluator.ts";
import { calibrate, folderWith, run } from "./testing/run.ts";

test.each([
  [[], "No command was given; there are ask, mcp, "],
  [["callibrate"], '"callibrate" is no command; there are ask, mcp, '],
  [["calibrate"], "LABELS is missing"],
  [["calibrate", "a"], "--answers is missing"],
  [
    [...calibrate, "--require", "5"],
    "--require takes a share above 0 and below 1, such as --require 5%.",
  ],
  [[...calibrate, "--cost", "falseAct=5"], "--cost takes two costs above 0"],
  [[...calibrate, "--by", "truth"], "--by takes a column that groups labels"],
  [[...calibrate, "--requier", "5%"], "did you mean --require?"],
  [["pick", "--answers", "answers.ndjson"], "--budget is missing"],
  [
    ["pick", "--answers", "answers.ndjson", "--budget", "5", "--uncertain"],
    "--uncertain is refused",
  ],
  [["check", "calibration.json"], "--labels is missing"],
  [["check", "--labels", "a"], "calibration.json is missing"],
  [["drift", "--before", "a"], "--after is missing"],
])("the words %j mean nothing: %s", async (words, message) => {
  const folder = await folderWith(40);
  const { exitCode, stderr } = await run(folder, words);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/\nFor its options: evaluator(?: [a-z]+)? --help\n$/);
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
])("%s %s tells how it is typed, with examples", async (...words) => {
  const { exitCode, stdout } = await run("/", words);
  expect(exitCode).toBe(0);
  const [name = ""] = words.length === 2 ? words : [];
  expect(stdout).toContain(`Usage: evaluator ${name}`);
  expect(stdout).toMatch(new RegExp(`^Examples\n(?:  .*evaluator ${name}.*\n)+`, "m"));
});

test("--version tells the version of the package, and so does the emulator's", async () => {
  const printed = [await run("/", ["--version"]), await run("/", ["emulator", "--version"])];
  for (const { exitCode, stdout } of printed) {
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  }
});

test("the emulator starts, and what is wrong with its words is told as it was typed", async () => {
  const folder = await folderWith(1);
  const { exitCode, stderr } = await run(folder, ["emulator", "--tier", "gold"]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("\nFor its options: evaluator emulator --help\n");
  const interruption = new AbortController();
  const context = createTestContext({
    signal: interruption.signal,
    stdout: {
      write: (text) => text.includes("gateway  http://127.0.0.1:") && interruption.abort(),
    },
  });
  expect(await runEvaluator(["emulator", "--port", "0"], context)).toBe(0);
});
