import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { artifactHash, type CalibrationArtifact, questionHash } from "evaluator-calibration";
import { CliError } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { choice } from "evaluator-client";
import { expect, test } from "vitest";
import { columnsOf, toRecord } from "../columns/columns.ts";
import type { RecordSource } from "../input/record-source.ts";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import { type AnsweredRecord, readConditions } from "./conditions.ts";
import { planOf, readRules, toAnswered } from "./rules-file.ts";
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
  decisions: {},
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
  ['"my question.an option" > 0.6', true],
  ['"my question.a.b" > 0.3', false],
  ['"my question.a.b" >= 0.3', true],
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
  ["scam >= 0,9", 10, '"9" is no answer of this run; write a decimal with a point, as in 0.9'],
  ["scram >= 0.9", 0, '"scram" is no answer of this run; there are category, categoryConf, imp'],
  ["scam >= 0.9, , new", 13, "name an answer first, such as scam >= 0.9"],
  ["category = recipt", 11, 'category has no option "recipt"; it has security_alert, receipt, '],
  ["category = ", 10, "category needs an option; it has security_alert"],
  ["category >= 3", 9, "category is an option; compare it with = or !=, or the share of an opt"],
  ["category.recipt > 0.5", 0, 'category has no option "recipt"; it has security_alert, receipt'],
  ["category. > 0.5", 0, 'category has no option ""; it has security_alert, receipt'],
  ["importance.9 > 0.5", 0, 'importance has no level "9"; it has 0, 1, 2, 3, 4, 5'],
  ["scam = yes", 5, "scam is a number; compare it with >=, >, <= or <"],
  ["scam >= 90", 8, '"90" cannot be; scam goes from 0 to 1'],
  ["importance >= high", 14, '"high" cannot be; importance goes from 0 to 5'],
  ["importance >=", 13, "a number is missing; importance goes from 0 to 5"],
  ["scam", 4, "choose one: scam >= 0.9"],
  ["category", 8, "choose one: category = security_alert"],
  ["scam >= 0.9 and new", 12, '"and" does not fit; put commas between conditions'],
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
    "line 3 column 12: add an arrow and an act, such as -> junk",
    "line 4 column 15: the action is missing, such as junk",
  ]);
});

test("a file of comments is no plan", async () => {
  await expect(rulesOf("# nothing yet\n")).rejects.toThrow("it holds no rule; write one a line");
});

test("the first rule that fits takes a mail", async () => {
  const rules = await rulesOf("importance > 4 -> a\nscam > 0.5 -> b\nnew -> c\n");
  const plan = planOf(rules, null);
  expect(plan.take(mail)).toEqual({ at: 1, action: "b", act: { evidence: null } });
  expect(plan.take({ ...mail, answers: null, isNew: false })).toBeNull();
  expect(plan.rules().map(({ taken }) => taken)).toEqual([0, 1, 0]);
});

const locked = { maxRisk: 0.05, confidence: 0.95, n: 80, wrong: 0 };
const calibration = {
  version: 1,
  kind: "by-question",
  model: { id: "m", wire: null },
  questionHash: questionHash(questions),
  rounding: { probabilityDecimals: 2 },
  fittedOn: { n: 1000, from: null, to: null, hash: "0" },
  heldOut: null,
  parameters: { brand_deal: { kind: "logistic", parameters: { intercept: 0, slope: 2 } } },
  thresholds: [
    { question: "scam", action: "yes", threshold: 0.9, ...locked },
    { question: "scam", action: "no", threshold: 0.7, ...locked },
    { question: "brand_deal", action: "yes", threshold: 0.8, ...locked },
    { question: "my question", action: "top", threshold: 0.7, ...locked },
  ],
} as CalibrationArtifact;

/** Returns a record whose answers are yes with a printed probability. */
function answered(p: number, artifact = calibration): AnsweredRecord {
  const yes = { type: "boolean", probability: p };
  const rest = Math.round(100 - 100 * p) / 100;
  const choice = p >= rest ? "an option" : "a.b";
  const own = { type: "choice", choice, probabilities: { "an option": p, "a.b": rest } };
  const answers = { ...mail.answers, scam: yes, brand_deal: yes, "my question": own };
  const kept = { answers, confidence: {}, modelId: "m" } as unknown as KeptEvaluation;
  const input = { id: `p-${p}`, state: {}, source: null };
  const columns = columnsOf(questions, { artifact });
  const record = toRecord(input, { evaluation: kept, error: null }, { columns, calibration });
  const source = { dayOf: () => "2026-11-02" } as unknown as RecordSource;
  return toAnswered({ input, kept, record }, { calibration: artifact, source }, null);
}

/** Returns the plan of rules for one record at each printed value. */
async function planIn(text: string, artifact = calibration) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "rules.txt"), text);
  const rules = await readRules("rules.txt", columnsOf(questions, { artifact }), { cwd });
  const plan = planOf(rules, artifact);
  const taken = Array.from({ length: 101 }, (_, at) => plan.take(answered(at / 100, artifact)));
  return { taken, rules: plan.rules() };
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
  ["importance >= 3", false],
  ['"my question.an option" >= 0.7', true],
  ['"my question.an option" >= 0.69', false],
  ['"my question" = "an option"', false],
])("%s is promised: %s", async (text, isPromised) => {
  const { rules } = await planIn(`${text} -> junk`);
  expect(rules[0]?.isPromised).toBe(isPromised);
});

test("an act has the evidence of the printed answer, and no act has none", async () => {
  const { taken, rules } = await planIn("brandDealPrinted >= 0.7 -> deal");
  const acts = taken.slice(79).map((one) => one?.act);
  expect(acts[0]).toEqual({ evidence: null });
  expect(acts[1]).toEqual({
    question: "brand_deal",
    act: "yes",
    evidence: expect.objectContaining({
      artifact: artifactHash(calibration),
      printed: 0.8,
      threshold: 0.8,
      maxRisk: 0.05,
    }),
  });
  expect(rules).toMatchObject([{ taken: 31, isPromised: false }]);
  expect(rules[0]?.promise).toBe(
    'promised for 21 of 31: at most 5 % of all "yes" answers to brand_deal printed at 0.80 and above are wrong, with 95 % confidence (0 of 80 labels)',
  );
});

test("a low yes is no promised no, and a promised no is no yes", async () => {
  const { rules } = await planIn("scam < 0.95 -> keep\nscam >= 0.95 -> junk");
  expect(rules.map(({ promise }) => promise.slice(0, 29))).toEqual([
    "promised for 31 of 95: at mos",
    "promised: at most 5 % of all ",
  ]);
});

test.each([
  ['"my question" = "an option", scam < 0.5 -> x', "the rule asks for more than one answer"],
  ["importance > 3 -> x", "only a yes, a no or the likeliest option or level can have one"],
  ["brand_deal <= 0.1 -> x", "no threshold of brand_deal is promised"],
])("%s is not promised: %s", async (text, why) => {
  const { rules } = await planIn(text);
  expect(rules[0]?.promise).toBe(`no promise: ${why}`);
});

test("a rule whose records are all below the threshold names the promise it misses", async () => {
  const { rules } = await planIn("scam >= 0.9 -> junk\nscam >= 0.8 -> look");
  expect(rules[1]?.promise).toBe(
    'no promise for any: at most 5 % of all "yes" answers to scam printed at 0.90 and above are wrong, with 95 % confidence (0 of 80 labels)',
  );
});
