import { readFileSync } from "node:fs";
import { CliError, systemErrorCode } from "evaluator-kit";
import { z } from "zod";
import { describeIssue, recordOf } from "../json.ts";

const expected =
  "expected the probability of yes, 0 to 1, or an object of option (or level index) to " +
  "probability that sums to at most 1";
const probabilitySchema = z.number().min(0, expected).max(1, expected);
// Printed values such as 0.33, 0.33 and 0.35 may sum to a little more than 1.
const highestSum = 1.01;

const sharesSchema = recordOf(probabilitySchema).refine((shares) => {
  const values = Object.values(shares);
  const sum = values.reduce((total, share) => total + share, 0);
  return values.length > 0 && sum <= highestSum;
}, expected);

/** The probability of yes, or option name (or level index) to probability. */
const ruleAnswerSchema = z.union([probabilitySchema, sharesSchema], { error: expected });

const matchSchema = z
  .string({ error: "expected text, or a regular expression such as /invoice|receipt/i" })
  .refine((match) => match !== "", "expected some text")
  .refine(isReadable, "is not a valid regular expression");

const ruleSchema = z.strictObject({
  match: matchSchema.optional(),
  answers: recordOf(ruleAnswerSchema).refine(
    (answers) => Object.keys(answers).length > 0,
    "expected at least 1 answer",
  ),
});

/** A list of rules as a file holds it. */
const rulesSchema = z.array(ruleSchema, { error: "expected a list of rules" });

/**
 * What to answer about a state that holds `match`: text in any case, or `/a regular expression/i`;
 * without it, any state. Each key of `answers` is a question's id or words of its instructions.
 */
export interface Rule {
  readonly match?: string | undefined;
  readonly answers: Readonly<Record<string, RuleAnswer>>;
}

/** See {@link Rule}. */
export type RuleAnswer = number | Readonly<Record<string, number>>;

/** Returns the parts of a match written as a regular expression, or null when it is plain text. */
export function patternOf(match: string): RegExp | null {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(match) ?? [];
  return source === undefined ? null : new RegExp(source, flags?.replaceAll(/[gy]/g, ""));
}

function isReadable(match: string): boolean {
  try {
    patternOf(match);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks rules that came from outside.
 *
 * @param source - Where they came from, such as a file name.
 * @throws {Error} names the source, the rule, counted from 1, and the field.
 */
export function checkRules(rules: unknown, source = "rules"): Rule[] {
  const { data, error } = rulesSchema.safeParse(rules);
  if (error === undefined) return data;
  throw new CliError(`${source}: ${describeIssue(error, "rule")}`);
}

/**
 * Reads a rules file.
 *
 * @throws {Error} names the file and the position in it.
 */
export function loadRules(path: string): Rule[] {
  return checkRules(parseJson(readText(path), path), path);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = systemErrorCode(error) ?? "unreadable";
    throw new CliError(`${path}: the file cannot be read (${code}).`, { cause: error });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const where = /line \d+ column \d+/.exec(String(error))?.[0];
    const position = where === undefined ? "" : ` at ${where}`;
    throw new CliError(`${path}: not JSON${position}.`, { cause: error });
  }
}
