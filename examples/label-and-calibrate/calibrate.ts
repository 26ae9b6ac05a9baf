import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { corpCurve, learnThenTest } from "evaluator-calibration";
import { labelsForZeroErrors } from "evaluator-calibration/statistics";
import { boolean, createEvaluator, type Evaluator } from "evaluator-client";

/** A mail and its label. */
interface LabelledMail {
  readonly id: string;
  readonly state: { readonly from: string; readonly subject: string; readonly text: string };
  readonly isScam: boolean;
}

const questions = { scam: boolean("Is this mail a scam?") };
const maxRisk = 0.05;

/** Evaluates a file of labelled mails, one a line, and describes the accuracy of the probabilities. */
export async function calibrateScams(path: string | URL, evaluator: Evaluator): Promise<string> {
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  const labelled = lines.map((line) => JSON.parse(line) as LabelledMail);
  const requests = labelled.map(({ state }) => ({ state, questions }));
  const p: number[] = [];
  const truth: number[] = [];
  const models = new Set<string | null>();
  for await (const item of evaluator.evaluateMany(requests)) {
    // A gap would make the rest look better or worse than it is.
    if (item.status === "failed") throw item.error;
    p.push(item.evaluation.answers.scam.probability);
    truth.push(labelled[item.index]?.isScam === true ? 1 : 0);
    models.add(item.evaluation.modelId);
  }
  const { skill, miscalibration } = corpCurve(p, truth);
  // Acting on "no" is wrong if the mail is a scam.
  const promise = learnThenTest(
    p.map((one) => 1 - one),
    truth,
    { maxRisk },
  );
  return [
    `${p.length} labelled mails, ${truth.filter(Boolean).length} of them scams, answered by ${[...models].join(", ")}`,
    `skill ${skill.toFixed(2)} (0 is guessing the base rate, 1 is knowing)`,
    `miscalibration ${miscalibration.toFixed(3)}`,
    promise === null
      ? `no threshold can be promised; it takes ${labelsForZeroErrors({ maxRisk })} labels above it, all of them right`
      : `act on "no" up to ${(1 - promise.threshold).toFixed(2)}: at most ${maxRisk * 100} % wrong, with 95 % confidence`,
  ].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const mails = new URL("mails.ndjson", import.meta.url);
  process.stdout.write(`${await calibrateScams(mails, createEvaluator())}\n`);
}
