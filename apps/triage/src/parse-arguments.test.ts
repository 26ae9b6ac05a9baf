import { expect, test } from "vitest";
import { UsageError } from "./errors.ts";
import { parseArguments } from "./parse-arguments.ts";

test("a file alone means all of it, through the service, without raw output", () => {
  expect(parseArguments(["inbox.json"])).toEqual({
    name: "run",
    file: "inbox.json",
    limit: Number.POSITIVE_INFINITY,
    raw: false,
    offline: false,
  });
});

test("flags are read before and after the file", () => {
  expect(parseArguments(["--raw", "inbox.json", "--offline", "--limit", "3"])).toEqual({
    name: "run",
    file: "inbox.json",
    limit: 3,
    raw: true,
    offline: true,
  });
});

test("help wins over everything else that is typed", () => {
  expect(parseArguments(["--help", "--limit", "none"])).toEqual({ name: "help" });
});

test.each([
  ["no file", [], "FILE is missing"],
  ["two files", ["a.json", "b.json"], "One FILE at a time, not 2"],
  ["an unknown flag", ["a.json", "--fast"], "Unknown option '--fast'"],
  ["a value after a switch", ["a.json", "--raw=yes"], "Option '--raw' does not take an argument"],
])("%s is a usage error that says so", (_, argv, message) => {
  expect(() => parseArguments(argv)).toThrow(new UsageError(message));
});

test.each([
  ["--limit=0"],
  ["--limit=-1"],
  ["--limit=2.5"],
  ["--limit=1e3"],
  ["--limit=ten"],
  ["--limit= 3"],
  ["--limit="],
  ["--limit"],
  ["--limit", "-1"],
])("%s %s is no limit", (...words) => {
  expect(() => parseArguments(["a.json", ...words])).toThrow(
    new UsageError("--limit takes a whole number from 1 up, such as --limit 20"),
  );
});
