import { expect, test } from "vitest";
import { readBenchArguments } from "./bench-arguments.ts";
import { targetNames } from "./targets/targets.ts";
import { sectionNames } from "./sections.ts";

test("nothing given means a short run of everything", () => {
  expect(readBenchArguments([], "/")).toEqual({
    long: false,
    sections: sectionNames,
    targets: targetNames,
    against: null,
    profile: null,
  });
});

test("parts and targets are run in their own order", () => {
  const words = ["--only", "stream, calls", "--targets", "ai,undici"];
  expect(readBenchArguments(words, "/")).toMatchObject({
    sections: ["calls", "stream"],
    targets: ["undici", "ai"],
  });
});

test("paths are relative to where the person stands", () => {
  const words = ["--against", "../b", "--profile", "/c"];
  const given = readBenchArguments(words, "/somewhere/here");
  expect(given).toMatchObject({
    against: "/somewhere/b",
    profile: "/c",
  });
});

test.each([
  [["--only", "call"], /^--only takes one of calls, router, .*, not "call"\.$/],
  [["--targets", ""], /^--targets takes one of undici, dispatch, .*, not ""\.$/],
  [["--fast"], /^Unknown option '--fast'/],
  [["calls"], /^"calls" is too much/],
])("refuses %j", (words, message) => {
  expect(() => readBenchArguments(words, "/")).toThrow(message);
});
