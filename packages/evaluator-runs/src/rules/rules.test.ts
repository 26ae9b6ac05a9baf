import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CalibrationArtifact } from "evaluator-calibration";
import { CliError } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { choice } from "evaluator-client";
import { expect, test } from "vitest";
import { columnsOf } from "../columns/columns.ts";
import { type AnsweredRecord, readConditions } from "./conditions.ts";
import { promiseOf } from "./promise.ts";
import { readRules, takeRecord } from "./rules-file.ts";
import { sampleQuestions } from "../testing/samples.ts";

const questions = {
  ...sampleQuestions,
  "my question": choice("Which?", { "an option": "one", "a.b": "two" }),
};
const named = columnsOf(questions);

const mail: AnsweredRecord = {
  record: {
    id: "m-1",
    date: "2026-11-02",
    from: "",
    subject: "",
    category: "receipt",
    categoryConf: 0.9,
    importance: 3.2,
    importanceConf: 0.4,
    brandDeal: 0.03,
    scam: 0.9,
    "my question": "an option",
    "my questionConf": null,
  },
  answers: {
    category: { type: "choice", choice: "receipt", probabilities: { receipt: 0.8, other: 0.2 } },
    importance: { type: "score", score: 3.2, probabilities: { "3": 0.8, "4": 0.2 } },
    brand_deal: { type: "boolean", probability: 0.03 },
    scam: { type: "boolean", probability: 0.9 },
    "my question": {
      type: "choice",
      choice: "an option",
      probabilities: { "an option": 0.7, "a.b": 0.3 },
    },
  },
  day: "2026-11-02",
  isNew: true,
};

function meets(text: string, of: AnsweredRecord = mail): boolean {
  return readConditions(text, named).conditions.every((condition) => condition.meets(of));
}

test.each([
  ["scam >= 0.9", true],
  ["scam>0.9", false],
  ["scam ≤ .9", true],
  ["brand_deal < 0.03", false],
  ["brandDeal <= 0.03", true],
  ["category = receipt", true],
  ["category = newsletter | receipt", true],
  ["category != newsletter|other", true],
  ["category != receipt", false],
  ["category=receipt,importance>=3", true],
  ["category=receipt,importance>=4", false],
  ["categoryConf >= 0.95", false],
  ["category.receipt >= 0.8", true],
  ["importance.4 > 0.2", false],
  ['"my question" = "an option"', true],
  ['"my question"."an option" > 0.6', true],
  ['"my question".a.b > 0.3', false],
  ["new", true],
  ["new, scam < 0.5", false],
])("%s: %s", (text, expected) => {
  expect(meets(text)).toBe(expected);
});

test("a mail without an answer meets no condition about answers, and can be new", () => {
  const failed = { ...mail, answers: null };
  expect([meets("scam < 1", failed), meets("category != other", failed)]).toEqual([false, false]);
  expect(meets("new", failed)).toBe(true);
});

test.each([
  ["scram >= 0.9", 0, '"scram" is no answer of this run; there are category, categoryConf, imp'],
  ["scam >= 0.9, , new", 13, "name an answer first, such as scam >= 0.9"],
  ["category = recipt", 11, 'category has no option "recipt"; it has security_alert, receipt, '],
  ["category = ", 10, "category needs an option; it has security_alert"],
  ["category >= 3", 9, "category is an option; compare it with = or !=, or the share of an opt"],
  ["category.recipt > 0.5", 0, 'category has no option "recipt"; it has security_alert, receipt'],
  ["importance.9 > 0.5", 0, 'importance has no level "9"; it has 0, 1, 2, 3, 4, 5'],
  ["scam = yes", 5, "scam is a number; compare it with >=, >, <= or <"],
  ["scam >= 90", 8, '"90" cannot be; scam goes from 0 to 1'],
  ["importance >= high", 14, '"high" cannot be; importance goes from 0 to 5'],
  ["importance >=", 13, "a number is missing; importance goes from 0 to 5"],
  ["scam", 4, "say what it is to be: scam >= 0.9"],
  ["category", 8, "say what it is to be: category = security_alert"],
  ["scam >= 0.9 and new", 12, '"and" is too much; put a comma between conditions'],
  ['"my question = x', 0, 'the quote is not closed; end it with "'],
])("%j is refused at column %i", (text, at, message) => {
  const error = expect.objectContaining({ at, message: expect.stringContaining(message) });
  expect(() => readConditions(text, named)).toThrow(error);
});

async function rulesOf(text: string) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "rules.txt"), text);
  return await readRules("rules.txt", named, { cwd });
}

test("a file has a rule a line, with comments, either arrow and any line end", async () => {
  const text = [
    "\uFEFF# what to do",
    "scam >= 0.9 → junk   # no doubt",
    "",
    'category = receipt -> label #1 of "two"',
    '"my question" = "an option" -> "keep # all"',
  ];
  expect(await rulesOf(text.join("\r\n"))).toMatchObject([
    { line: 2, text: "scam >= 0.9", action: "junk" },
    { line: 4, text: "category = receipt", action: 'label #1 of "two"' },
    { line: 5, text: '"my question" = "an option"', action: "keep # all" },
  ]);
});

test("every wrong line is named with its column, and what would be right", async () => {
  const text = "scam >= 0.9 -> junk\nscram > 1 -> junk\nscam >= 0.9\nscam >= 0.9 -> # nothing\n";
  const error = await rulesOf(text).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(CliError);
  const lines = (error as CliError).message.split("\n").map((line) => line.trim());
  expect(lines).toEqual([
    expect.stringMatching(/rules\.txt cannot be used:$/),
    expect.stringMatching(/^line 2 column 1: "scram" is no answer of this run; there are category/),
    "line 3 column 12: say after an arrow what is to be done, such as -> junk",
    "line 4 column 15: the action is missing, such as junk",
  ]);
});

test("a file of comments is no plan", async () => {
  await expect(rulesOf("# nothing yet\n")).rejects.toThrow("it holds no rule; write one a line");
});

test("the first rule that fits takes a mail, and the others say that they would", async () => {
  const rules = await rulesOf("importance > 4 -> a\nscam > 0.5 -> b\nnew -> c\n");
  expect(takeRecord(rules, mail)).toEqual({ taken: 1, also: [2] });
  expect(takeRecord(rules, { ...mail, answers: null, isNew: false }).taken).toBeNull();
});

const locked = { maxRisk: 0.05, confidence: 0.95, n: 80, wrong: 0 };
const calibration = {
  version: 1,
  kind: "by-question",
  model: { id: "m", wire: null },
  questionHash: null,
  rounding: { probabilityDecimals: 2 },
  fittedOn: { n: 1000, from: null, to: null, hash: "0" },
  heldOut: null,
  parameters: { brand_deal: { kind: "logistic", parameters: { intercept: 0, slope: 2 } } },
  thresholds: [
    { question: "scam", action: "yes", threshold: 0.9, ...locked },
    { question: "scam", action: "no", threshold: 0.7, ...locked },
    { question: "brand_deal", action: "yes", threshold: 0.8, ...locked },
  ],
} as CalibrationArtifact;

async function promiseIn(text: string, takenBefore = 0) {
  const columns = columnsOf(questions, { artifact: calibration });
  const { conditions } = readConditions(text, columns);
  const rule = { line: 1, text, conditions, action: "junk" };
  return promiseOf(rule, calibration, takenBefore);
}

// The odds of 0.8 squared are 16, so a printed 0.8 is a recalibrated 0.941.
test.each([
  ["scam >= 0.9", true],
  ["scam > 0.89", true],
  ["scam >= 0.89", false],
  ["scam <= 0.3", true],
  ["scam < 0.31", true],
  ["scam <= 0.31", false],
  ["brand_deal >= 0.8", false],
  ["brand_deal >= 0.94", true],
  ["brandDealPrinted >= 0.8", true],
  ["brandDealPrinted >= 0.79", false],
  ["brand_deal <= 0.1", false],
  ["scam >= 0.9, new", false],
  ["category = receipt", false],
  ["importance >= 4", false],
])("%s is promised: %s", async (text, isPromised) => {
  expect((await promiseIn(text)).isPromised).toBe(isPromised);
});

test("a promise names its risk and its labels, and whom it counts; what is none says what would be", async () => {
  expect((await promiseIn("scam >= 0.95", 3)).text).toBe(
    "promised: at most 5 % wrong, with 95 % confidence (0 of 80 labels), counted with the 3 that earlier rules take",
  );
  expect((await promiseIn("scam < 0.5")).text).toBe(
    "not promised: promised is scam <= 0.30: at most 5 % wrong, with 95 % confidence (0 of 80 labels)",
  );
  expect((await promiseIn("brand_deal <= 0.1")).text).toBe(
    "not promised: its labels promise no threshold of brand_deal",
  );
});
