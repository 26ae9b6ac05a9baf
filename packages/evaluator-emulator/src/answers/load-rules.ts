import { readFileSync } from "node:fs";
import { CliError, systemErrorCode } from "evaluator-kit";
import { checkRules, type Rule } from "./rules.ts";

/** Reads a rules file. @throws {Error} names the file, and the rule and field or the position. */
export function loadRules(path: string): Rule[] {
  let rules: unknown;
  try {
    rules = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const code = systemErrorCode(error) ?? "unreadable";
    const where = /line \d+ column \d+/.exec(String(error))?.[0];
    const position = where === undefined ? "" : ` at ${where}`;
    const isSyntax = error instanceof SyntaxError;
    const problem = isSyntax ? `not JSON${position}` : `the file cannot be read (${code})`;
    throw new CliError(`${path}: ${problem}.`, { cause: error });
  }
  try {
    return checkRules(rules, path);
  } catch (error) {
    throw new CliError((error as RangeError).message, { cause: error });
  }
}
