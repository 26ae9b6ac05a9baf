import { expect, test } from "vitest";
import { answerFields } from "../output/answer-fields.ts";
import type { TriageRecord } from "../output/triage-record.ts";
import { triageQuestions } from "../triage-questions.ts";
import { triageTable } from "./triage-table.ts";

const fields = answerFields(triageQuestions("Ada"));

function table(records: readonly TriageRecord[]): string {
  return [...triageTable(records, { fields })].join("");
}

function record(fields: Partial<TriageRecord>): TriageRecord {
  return {
    id: "m-1",
    date: "2026-11-02",
    from: "Ada <ada@example.com>",
    subject: "Lunch",
    category: "other",
    categoryConf: 0.71,
    importance: 2,
    importanceConf: 0.5,
    brandDeal: 0.01,
    scam: 0.2,
    ...fields,
  };
}

test("prints the contract's columns, the most important mail first", () => {
  const records = [
    record({ importance: 0.5, category: "newsletter" }),
    record({ importance: 3.9, importanceConf: null, scam: 1, brandDeal: 0 }),
  ];
  expect(table(records)).toMatchInlineSnapshot(`
    "imp   conf  scam  deal  category    date        from                   subject
    3.90  -     1.00  0.00  other       2026-11-02  Ada <ada@example.com>  Lunch
    0.50  0.50  0.20  0.01  newsletter  2026-11-02  Ada <ada@example.com>  Lunch
    "
  `);
});

test("no records leave the header alone", () => {
  expect(table([])).toBe("imp  conf  scam  deal  category  date  from  subject\n");
});

test("equally important mails keep the order of the input", () => {
  const subjects = ["one", "two", "three", "four"];
  const printed = table(subjects.map((subject) => record({ subject })));
  expect(printed.match(/\S+$/gm)).toEqual(["subject", ...subjects]);
});

test("cuts the sender to 28 characters and the subject to 60", () => {
  const printed = table([record({ from: "🙂".repeat(29), subject: "é".repeat(61) })]);
  expect(printed).toMatch(new RegExp(` 🙂{28}  é{60}\n$`, "u"));
});

test("a subject cannot add a line or steer the terminal", () => {
  const printed = table([record({ subject: "a\u001b[2J\n9.99  forged\u202e" })]);
  expect(printed.split("\n")[1]).toMatch(/a 9\.99 {1,2}forged$/);
});
