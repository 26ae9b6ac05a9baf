import { columnsOf } from "evaluator-kit";
import { boolean, choice } from "evaluator-client";
import { expect, test } from "vitest";
import type { ResultRecord } from "../output/write-records.ts";
import { columnsOf as answersOf } from "./columns.ts";
import { sampleLayout as layout, sampleQuestions } from "../testing/samples.ts";
import { alignColumns, resultTable } from "./table.ts";

const columns = answersOf(sampleQuestions);

function table(records: readonly ResultRecord[]): string {
  return [...resultTable(rowsOf(records), { columns, layout })].join("");
}

function rowsOf(records: readonly ResultRecord[]) {
  return records.map((record) => ({ record, day: String(record["date"]), mark: "" }));
}

function record(fields: Partial<ResultRecord>): ResultRecord {
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

test("questions beside the contract's have their columns behind them", () => {
  const ownColumns = answersOf({
    ...sampleQuestions,
    angry: boolean("Is somebody angry?"),
    team: choice("Who answers?", { sales: "about buying", support: "about using" }),
  });
  const records = [record({ angry: 0.75, team: "sales", teamConf: 0.5 })];
  expect([...resultTable(rowsOf(records), { columns: ownColumns, layout })].join(""))
    .toMatchInlineSnapshot(`
    "imp   conf  scam  deal  category  angry  team   teamConf  date        from                   subject
    2.00  0.50  0.20  0.01  other     0.75   sales  0.50      2026-11-02  Ada <ada@example.com>  Lunch
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

test("columns start at the same place on the screen, whatever is in them", () => {
  const rows = [
    ["from", "n", "subject"],
    ["日本", "1", "wide"],
    ["👨‍👩‍👧", "22", "one family"],
    ["e\u0301a", "3", "combined"],
    ["", "4", ""],
  ];
  expect([...alignColumns(() => rows)].join("")).toBe(
    [
      "from  n   subject",
      "日本  1   wide",
      "👨‍👩‍👧    22  one family",
      "e\u0301a    3   combined",
      "      4",
      "",
    ].join("\n"),
  );
});

const wide = [
  record({ from: "日本語の送信者 <info@example.com>", subject: "👨‍👩‍👧 ".repeat(40) }),
  record({ category: "personal_reminder", subject: "\u001b[31ma red subject".repeat(9) }),
  record({ from: "x".repeat(28), subject: "y".repeat(60), category: "business_inquiry" }),
];

function linesOn(terminal: { width?: number }, records = wide): string[] {
  const given = { width: 80, fileName: "inbox.triage.json", ...terminal };
  return [...resultTable(rowsOf(records), { columns, layout, terminal: given })]
    .join("")
    .trimEnd()
    .split("\n");
}

test.each([200, 120, 80, 60, 40, 25, 10])("on a terminal of %i columns no row wraps", (width) => {
  const widest = Math.max(...linesOn({ width }).map(columnsOf));
  expect(widest).toBeLessThanOrEqual(width);
  expect(widest).toBeGreaterThan(Math.min(width, 120) - 10);
});

test("a narrow terminal cuts what is text, and leaves numbers and days whole", () => {
  expect(linesOn({ width: 80 })).toMatchInlineSnapshot(`
    [
      "imp   conf  scam  deal  category    date        from        subject",
      "2.00  0.50  0.20  0.01  other       2026-11-02  日本語の…   👨‍👩‍👧 👨‍👩‍👧 👨‍👩‍👧 👨‍👩‍👧 👨‍👩‍👧 👨‍👩‍👧…",
      "2.00  0.50  0.20  0.01  personal_…  2026-11-02  Ada <ada@…  a red subjecta red…",
      "2.00  0.50  0.20  0.01  business_…  2026-11-02  xxxxxxxxx…  yyyyyyyyyyyyyyyyyyy…",
    ]
  `);
});

test("a wide terminal shows what the contract does, and no more", () => {
  expect(linesOn({ width: 500 }).join("\n")).toBe(table(wide).trimEnd());
});

test.each([
  [200, {}, 201, expect.stringMatching(/ Lunch$/)],
  [201, {}, 52, "151 more rows: --top 201 prints them all; they are in inbox.triage.json"],
  [201, { width: 40 }, 52, "151 more rows: --top 201 prints them al…"],
])("of %i rows a terminal (%j) shows %i lines", (count, terminal, length, last) => {
  const records = Array.from({ length: count }, () => record({}));
  const lines = linesOn(terminal, records);
  expect(lines).toHaveLength(length);
  expect(lines.at(-1)).toEqual(last);
});

test("as many rows as are asked for are shown, and a pipe gets all of them", () => {
  const records = Array.from({ length: 300 }, () => record({}));
  const terminal = { width: 80, fileName: "a" };
  expect([...resultTable(rowsOf(records), { columns, layout, terminal, top: 250 })]).toHaveLength(
    251,
  );
  expect([...resultTable(rowsOf(records), { columns, layout })]).toHaveLength(301);
});
