import { expect, test } from "vitest";
import { calibrate, folderWith, run } from "./testing/run.ts";

test.each([
  [[], "No command was given."],
  [["callibrate"], '"callibrate" is no command.'],
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
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).toContain("Usage: evaluator ");
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
])("%s %s tells how it is typed", async (...words) => {
  const { exitCode, stdout } = await run("/", words);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("Usage: evaluator ");
});
