import { readFileSync } from "node:fs";
import { CliError, jsonErrorPlace, toFileError } from "evaluator-kit";
import { checkRules, type Rule } from "./rules.ts";

/** Reads a rules file. @throws CliError that names the file, and the rule and field or the position. */
export function loadRules(path: string): Rule[] {
  const text = readRules(path);
  try {
    return checkRules(JSON.parse(text), path);
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw new CliError((error as Error).message, { cause: error });
    const { line, column } = jsonErrorPlace(text, error);
    throw new CliError(`${path}: not JSON at line ${line} column ${column}.`, { cause: error });
  }
}

function readRules(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw toFileError(error, `read ${path}`);
  }
}
