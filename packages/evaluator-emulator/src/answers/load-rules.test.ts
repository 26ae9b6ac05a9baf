import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadRules } from "./load-rules.ts";

const fine = { match: "lottery", answers: { scam: 0.9, kind: { prize: 0.7, other: 0.3 } } };

const folder = mkdtempSync(join(tmpdir(), "rules-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, "rules.json");
  writeFileSync(path, text);
  return path;
}

test("valid rules are read unchanged", () => {
  const rules = [fine, { answers: { "how important": { "0": 0.33, "1": 0.33, "2": 0.35 } } }];
  expect(loadRules(fileWith(JSON.stringify(rules)))).toEqual(rules);
});

test.each([
  [{}, "rules.json: the list of rules: expected a JSON array"],
  [[fine, { match: "x" }], "rules.json: rule 2, answers: expected an object"],
  [[{ answers: {} }], "rules.json: rule 1, answers: expected at least 1 answer"],
  [[fine, { answers: { scam: 2 } }], "rules.json: rule 2, answers.scam: expected the probability"],
  [[{ answers: { kind: { a: 0.9, b: 0.9 } } }], "rules.json: rule 1, answers.kind: expected"],
  [[{ answers: { kind: {} } }], "rules.json: rule 1, answers.kind: expected"],
  [[{ answers: { kind: "prize" } }], "rules.json: rule 1, answers.kind: expected"],
  [[{ match: 7, answers: { a: 1 } }], "rules.json: rule 1, match: expected text"],
  [[{ match: "", answers: { a: 1 } }], "rules.json: rule 1, match: expected some text"],
  [[{ match: "/(/", answers: { a: 1 } }], "rules.json: rule 1, match: is not a valid regular"],
  [[{ ...fine, when: 1 }], 'rules.json: rule 1: Unrecognized key: "when"'],
])("%j is rejected and says where", (rules, message) => {
  const path = fileWith(JSON.stringify(rules));
  expect(() => loadRules(path)).toThrow(path.replace("rules.json", message));
});

test("a file of rules is read", () => {
  expect(loadRules(fileWith(`[{ "answers": { "scam": 1 } }]`))).toEqual([{ answers: { scam: 1 } }]);
});

test("a wrong rule is named with the file", () => {
  const path = fileWith(`[{ "answers": { "scam": "yes" } }]`);
  expect(() => loadRules(path)).toThrow(`${path}: rule 1, answers.scam: expected`);
});

test("a file that is not JSON is named with the position, without its text", () => {
  const path = fileWith(`[\n  { "match": "secret" "answers": {} }\n]`);
  expect(() => loadRules(path)).toThrow(`${path}: not JSON at line 2 column 23.`);
});

test("a missing file is named", () => {
  const path = join(folder, "none.json");
  expect(() => loadRules(path)).toThrow(
    `Cannot read ${path}: no such file or directory. Check the path.`,
  );
});
