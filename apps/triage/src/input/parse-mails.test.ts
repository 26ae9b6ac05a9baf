import { expect, test } from "vitest";
import { TriageError } from "../errors.ts";
import { sampleMail } from "../testing/sample-mail.ts";
import { parseMails } from "./parse-mails.ts";

test("gives the records in order, without the fields it does not know", () => {
  const first = { ...sampleMail({ id: "b" }), labels: ["INBOX"] };
  const second = sampleMail({ id: "a", subject: "", date: "2024-02-29" });
  expect(parseMails([first, second])).toEqual([sampleMail({ id: "b" }), second]);
});

test("an empty array is no mails", () => {
  expect(parseMails([])).toEqual([]);
});

test.each([{}, null, "text", 3])("%j is not an array of records", (input) => {
  expect(() => parseMails(input)).toThrow("not a JSON array");
});

const { id: _, ...withoutId } = sampleMail();
const { subject: __, ...withoutSubject } = sampleMail();

test.each([
  ["(no id): id is missing; give every record an id of its own", withoutId],
  ["(no id): id is not text; give every record an id of its own", { ...sampleMail(), id: 17 }],
  ["(no id): id is empty; give every record an id of its own", sampleMail({ id: "" })],
  ['(id "m-1"): subject is missing; write it as text, "" when the mail has none', withoutSubject],
  [
    '(id "m-1"): snippet is not text; write it as text, "" when the mail has none',
    { ...sampleMail(), snippet: null },
  ],
  [
    '(id "m-1"): date is not a day of the calendar; write it as YYYY-MM-DD',
    sampleMail({ date: "2026-02-30" }),
  ],
  [
    '(id "m-1"): date is not a day of the calendar; write it as YYYY-MM-DD',
    sampleMail({ date: "2 Nov 2026" }),
  ],
  [
    '(id "m-0"): id is also that of the record at index 0; give every record an id of its own',
    sampleMail({ id: "m-0" }),
  ],
  ["(no id): is not an object; write { id, date, from, subject, snippet }", "a mail"],
])("says of a record: %s", (problem, record) => {
  expect(() => parseMails([sampleMail({ id: "m-0" }), record])).toThrow(
    new TriageError(`record at index 1 ${problem}`),
  );
});

test("lists every problem in order, ten at most, and counts the rest", () => {
  const records = Array.from({ length: 12 }, (_, index) =>
    sampleMail({ id: `m-${index}`, date: "" }),
  );
  expect(() => parseMails(records)).toThrow(/index 0 .*\n.*index 1 [^]*index 9 .*\n  and 2 more$/);
});

test("says nothing of what a mail says", () => {
  const secret = "Meet me at noon";
  const record = { id: 1, date: secret, from: secret, subject: [secret], snippet: { secret } };
  expect(() => parseMails([record])).toThrow(expect.not.stringContaining(secret));
});

test("shows an id on one line, without terminal escapes, and cut", () => {
  const id = `\u001b[31mred\n${"x".repeat(100)}`;
  expect(() => parseMails([sampleMail({ id, date: "" })])).toThrow(`(id "red ${"x".repeat(56)}")`);
});
