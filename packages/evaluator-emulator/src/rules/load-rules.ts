import { readFileSync } from "node:fs";
import { checkRules } from "./check-rules.ts";
import type { Rule } from "./rule.ts";

/**
 * Reads a rules file.
 *
 * @throws {Error} names the file and the place in it.
 */
export function loadRules(path: string): Rule[] {
  return checkRules(parseJson(readText(path), path), path);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new Error(`${path}: the file cannot be read (${code}).`, { cause: error });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const where = /line \d+ column \d+/.exec(String(error))?.[0];
    const place = where === undefined ? "" : ` at ${where}`;
    throw new Error(`${path}: not JSON${place}.`, { cause: error });
  }
}
