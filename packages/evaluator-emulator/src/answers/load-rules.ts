import { readFileSync } from "node:fs";
import { CliError, jsonErrorPlace, toFileError } from "evaluator-kit";
import { checkRules, type Rule } from "./rules.ts";

/** Reads a rules file. @throws CliError that names the file, and the rule and field or the position. */
export function loadRules(rulesPath: string): Rule[] {
  const rulesText = readRulesText(rulesPath);
  try {
    return checkRules(JSON.parse(rulesText), rulesPath);
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw new CliError((error as Error).message, { cause: error });
    const { line, column } = jsonErrorPlace(rulesText, error);
    throw new CliError(`${rulesPath}: not JSON at line ${line} column ${column}.`, {
      cause: error,
    });
  }
}

function readRulesText(rulesPath: string): string {
  try {
    return readFileSync(rulesPath, "utf8");
  } catch (error) {
    throw toFileError(error, `read ${rulesPath}`);
  }
}
