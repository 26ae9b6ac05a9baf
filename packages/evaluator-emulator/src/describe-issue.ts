import type { z } from "zod";

/** What is wrong and where, such as `rule 2, answers.scam: expected a probability`. */
export function describeIssue(error: z.ZodError, entry: string): string {
  const [issue] = error.issues;
  const [index, ...path] = issue?.path ?? [];
  const place = typeof index === "number" ? `${entry} ${index + 1}` : `the list of ${entry}s`;
  const field = path.map(String).join(".");
  return `${place}${field === "" ? "" : `, ${field}`}: ${issue?.message ?? "is not valid"}`;
}
