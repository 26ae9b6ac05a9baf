import { expect, test } from "vitest";
import { findFields, findUncertain, uncertaintyRule } from "./result-fields.ts";

const certain = {
  id: "m-1",
  date: "2026-11-02",
  from: "ada@example.com",
  subject: "Hello",
  category: "receipt",
  categoryConf: 0.9,
  importance: 2,
  importanceConf: 0.8,
  scam: 0.12,
};

function reasonsFor(fields: object): readonly string[] {
  const records = [{ ...certain, ...fields }];
  return findUncertain(records, findFields([certain])).flatMap(({ reasons }) => reasons);
}

test.each([
  [{ categoryConf: 0.49 }, ["category conf 0.49"]],
  [{ categoryConf: 0.5 }, []],
  [{ importanceConf: 0.499, scam: 0.31 }, ["importance conf 0.50", "scam 0.31"]],
  [{ scam: 0.3 }, []],
  [{ scam: 0.5 }, ["scam 0.50"]],
  [{ scam: 0.69 }, ["scam 0.69"]],
  [{ scam: 0.7 }, []],
  [{ categoryConf: null, importanceConf: null, scam: null }, []],
  [{ categoryConf: 0.1, error: "The service is down." }, ["no answer"]],
])("a mail with %j is uncertain for %j", (fields, reasons) => {
  expect(reasonsFor(fields)).toEqual(reasons);
});

test("a probability that a calibration changed counts, and not the one that came", () => {
  const record = { ...certain, scam: 0.02, scamPrinted: 0.5 };
  expect(findUncertain([record], findFields([record]))).toEqual([]);
});

test("the page says the bounds by which it lists", () => {
  expect(uncertaintyRule).toContain("a confidence below 0.5, or with a probability within 0.2 of");
  expect(uncertaintyRule).toContain("the 50 with the most reasons");
});

test("the fifty mails with the most reasons are listed, those with more of them first", () => {
  const records = Array.from({ length: 60 }, (_, index) => ({
    ...certain,
    id: `m-${index}`,
    scam: 0.5,
    ...(index % 2 === 1 && { categoryConf: 0.1 }),
  }));
  const listed = findUncertain(records, findFields(records));
  expect(listed.map(({ reasons }) => reasons.length)).toEqual([
    ...Array.from({ length: 30 }, () => 2),
    ...Array.from({ length: 20 }, () => 1),
  ]);
  expect(listed[0]?.record.id).toBe("m-1");
});

test("a field with a confidence beside it is a level or an option, as printed as well; else yes or no", () => {
  const calibrated = { ...certain, importancePrinted: 2.1, scamPrinted: 0.2 };
  expect(findFields([calibrated])).toEqual({
    choices: ["category"],
    scores: ["importance", "importancePrinted"],
    booleans: ["scam", "scamPrinted"],
    confidences: ["categoryConf", "importanceConf"],
  });
});
