import { expect, test } from "vitest";
import { toOutputPath } from "./paths.ts";

test.each([
  ["/mail/inbox.json", "/mail/inbox.triage.json"],
  ["/mail.json/in.json.json", "/mail.json/in.json.triage.json"],
  ["/mail/inbox.JSON", "/mail/inbox.triage.json"],
  ["/mail/lines.ndjson", "/mail/lines.triage.json"],
  ["/mail/lines.JsonL", "/mail/lines.triage.json"],
  ["/mail/inbox.json5", "/mail/inbox.json5.triage.json"],
  ["/mail.d/inbox", "/mail.d/inbox.triage.json"],
])("the results of %s go to %s", (inputPath, outputPath) => {
  expect(toOutputPath(inputPath)).toBe(outputPath);
});

test("results are not taken for an input", () => {
  expect(() => toOutputPath("/mail/inbox.triage.json")).toThrow("holds results");
});
