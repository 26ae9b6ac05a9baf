import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadRules } from "./load-rules.ts";

const folder = mkdtempSync(join(tmpdir(), "rules-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, "rules.json");
  writeFileSync(path, text);
  return path;
}

test("a file of rules is read", () => {
  expect(loadRules(fileWith(`[{ "answers": { "scam": 1 } }]`))).toEqual([{ answers: { scam: 1 } }]);
});

test("a wrong rule is named with the file", () => {
  const path = fileWith(`[{ "answers": { "scam": "yes" } }]`);
  expect(() => loadRules(path)).toThrow(`${path}: rule 1, answers.scam: expected`);
});

test("a file that is not JSON is named with the place, without its text", () => {
  const path = fileWith(`[\n  { "match": "secret" "answers": {} }\n]`);
  expect(() => loadRules(path)).toThrow(`${path}: not JSON at line 2 column 23.`);
});

test("a missing file is named", () => {
  const path = join(folder, "none.json");
  expect(() => loadRules(path)).toThrow(`${path}: the file cannot be read (ENOENT).`);
});
