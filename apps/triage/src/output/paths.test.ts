import { expect, test } from "vitest";
import { toOutputPath } from "./paths.ts";

test.each([
  ["/mail/inbox.json", "/mail/inbox.triage.json"],
  ["/mail.json/in.json.json", "/mail.json/in.json.triage.json"],
])("the results of %s go to %s", (inputPath, outputPath) => {
  expect(toOutputPath(inputPath)).toBe(outputPath);
});

test.each(["/mail/inbox.txt", "/mail/inbox", "/mail/inbox.json5", "/mail/inbox.JSON"])(
  "%s is refused for its name",
  (inputPath) => {
    expect(() => toOutputPath(inputPath)).toThrow(`${inputPath} does not end in .json`);
  },
);

test("results are not taken for an input", () => {
  expect(() => toOutputPath("/mail/inbox.triage.json")).toThrow("holds results");
});
