import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import type { Comparison } from "../compare/comparison.ts";

/** The questions of `questions.json`. */
export const asked = {
  scam: { type: "boolean", instructions: "Does it look like a scam?" },
  kind: {
    type: "choice",
    instructions: "What kind of email is this?",
    criteria: { receipt: "a payment receipt", newsletter: "news to many", other: "none of these" },
  },
};

/** The subjects of the states, in turn. */
export const texts = [
  "You have won the lottery, send your bank password now",
  "The receipt of your payment is attached",
  "Our newsletter of the week, unsubscribe below",
  "Shall we meet on Friday",
];

/** A folder with labels that hold their states, and the questions. */
export async function folderOf(
  n: number,
  truthOf = (index: number) => index % 4 === 0,
): Promise<string> {
  const cwd = await temporaryFolder();
  const labels = Array.from({ length: n }, (_, index) => {
    const state = { subject: `${texts[index % 4]}, number ${index}` };
    return { id: `m${index}`, question: "scam", truth: truthOf(index), state };
  });
  const lines = labels.map((label) => `${JSON.stringify(label)}\n`).join("");
  await writeFile(join(cwd, "labels.ndjson"), lines);
  await writeFile(join(cwd, "questions.json"), JSON.stringify(asked));
  return cwd;
}

/** The words of a comparison, but for its engines. */
export const plain = ["compare", "labels.ndjson", "--questions", "questions.json"];

/** Returns the numbers that a comparison wrote. */
export async function readComparison(cwd: string): Promise<Comparison> {
  return JSON.parse(await readFile(join(cwd, "comparison", "report.json"), "utf8")) as Comparison;
}
