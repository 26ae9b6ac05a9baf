import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The evidence of an act. */
export const evidence = {
  artifact: "3f0c9e1b2d4a5c6d",
  questions: "9Zc1mWq0T4bVxkSe",
  model: "maker/judge-7",
  printed: 0.99,
  threshold: 0.97,
  maxRisk: 0.05,
  confidence: 0.95,
  level: 0.025,
  n: 92,
  wrong: 0,
};

interface ActOptions {
  readonly act?: string;
  readonly question?: string;
  readonly prefix?: string;
  readonly changed?: Partial<typeof evidence>;
}

/** Returns acts on some records. */
export function acts(
  n: number,
  { act = "no", question = "refund", prefix = "t", changed }: ActOptions = {},
) {
  return Array.from({ length: n }, (_, index) => {
    return { id: `${prefix}${index}`, question, act, evidence: { ...evidence, ...changed } };
  });
}

/** Returns labels of acts; the first ones have another truth. */
export function labels(rows: readonly { id: string; question: string; act: string }[], wrong = 0) {
  return rows.map(({ id, question, act }, index) => {
    return { id, question, truth: index < wrong ? (act === "no" ? "yes" : "no") : act };
  });
}

/** Writes a file of NDJSON. */
export async function writeLines(
  folder: string,
  name: string,
  rows: readonly object[],
): Promise<void> {
  await writeFile(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
