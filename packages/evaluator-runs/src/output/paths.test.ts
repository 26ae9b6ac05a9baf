import { expect, test } from "vitest";
import { toJournalPath, toOutputPath } from "./paths.ts";

const source = { suffix: "triage", word: "mail" };

test.each([
  ["/mail/inbox.json", "/mail/inbox.triage.json"],
  ["/mail.json/in.json.json", "/mail.json/in.json.triage.json"],
  ["/mail/inbox.JSON", "/mail/inbox.triage.json"],
  ["/mail/lines.ndjson", "/mail/lines.triage.json"],
  ["/mail/lines.JsonL", "/mail/lines.triage.json"],
  ["/mail/inbox.json5", "/mail/inbox.json5.triage.json"],
  ["/mail.d/inbox", "/mail.d/inbox.triage.json"],
])("the results of %s go to %s", (inputPath, outputPath) => {
  expect(toOutputPath(inputPath, source)).toBe(outputPath);
});

test("results are not taken for an input", () => {
  expect(() => toOutputPath("/mail/inbox.triage.json", source)).toThrow("has results");
});

test("another program has its own suffix", () => {
  const tickets = { suffix: "answers", word: "ticket" };
  expect(toOutputPath("/a/tickets.json", tickets, "csv")).toBe("/a/tickets.answers.csv");
  expect(toOutputPath("/a/tickets.triage.json", tickets)).toBe("/a/tickets.triage.answers.json");
  expect(toJournalPath("/a/tickets.json", tickets)).toBe("/a/tickets.answers.sqlite");
});
