import { describeIssue } from "../describe-issue.ts";
import { rulesSchema, type Rule } from "./rule.ts";

/**
 * Checks rules that came from outside.
 *
 * @param source - Where they came from, such as a file name.
 * @throws {Error} names the source, the rule, counted from 1, and the field.
 */
export function checkRules(rules: unknown, source = "rules"): Rule[] {
  const { data, error } = rulesSchema.safeParse(rules);
  if (error === undefined) return data;
  throw new Error(`${source}: ${describeIssue(error, "rule")}`);
}
