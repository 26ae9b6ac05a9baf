import { type Costs, DEFAULT_SEED, type LockedThreshold } from "evaluator-calibration";
import { parseWords, UsageError } from "evaluator-kit";
import { readAnswerNames, readSeed, readShare } from "../shared-arguments.ts";

export const calibrateUsage = `
Usage: evaluator calibrate LABELS --answers FILE... [options]

Says whether printed probabilities hold on labelled records, and what may be done without asking.
LABELS   NDJSON, CSV with a header, or a JSON array of
         { id, question?, truth, skipped?, weight?, group?, labeler? }
FILE     a triage journal (.triage.sqlite) or result file, the router's decision log, or NDJSON of
         { id, question, probability or probabilities, modelId? }

  --out DIR          where report.html, report.json and, where it helps, calibration.json go [calibration]
  --require 5%       ends with 3 where no threshold can be promised at this risk [report: 5%]
  --confidence 95%   how sure all promises of a report are together [95%]
  --question ID      only this question; may be given again
  --action ID=yes    only this act (yes, no, or top for the most probable option): fewer acts share
                     the confidence, so each takes fewer labels; may be given again
  --model ID         only answers of this model
  --by COLUMN        also each group of the labels, by a column of theirs such as group or labeler;
                     each group shares the confidence as well
  --one-per COLUMN   promises from one label of each value of a column, such as thread or sender:
                     labels of one thread are not independent
  --questions FILE   what was asked, if the answers do not keep it: a JSON object of id to
                     { type, instructions, criteria }; without it no program applies the calibration
  --cost falseAct=5,missedAct=1   also the threshold that costs least
  --on-average       also the weaker threshold that holds on average
  --with-text        the worst rows with their text, not with ids alone
  --allow-unknown    counts labels whose id the answers do not know, instead of refusing them
  --last             takes the last of several answers or labels for one record
  --seed N           of the bands that are drawn at random; no promise depends on it [${DEFAULT_SEED}]
  --json             prints the report as JSON
`;

/** What a report is wanted of. */
export type CalibrateArguments = ReturnType<typeof parseCalibrateArguments>;

const options = {
  answers: { type: "string", multiple: true },
  out: { type: "string", default: "calibration" },
  require: { type: "string" },
  confidence: { type: "string", default: "95%" },
  question: { type: "string", multiple: true },
  action: { type: "string", multiple: true },
  model: { type: "string" },
  by: { type: "string" },
  "one-per": { type: "string" },
  questions: { type: "string" },
  cost: { type: "string" },
  "on-average": { type: "boolean", default: false },
  "with-text": { type: "boolean", default: false },
  "allow-unknown": { type: "boolean", default: false },
  last: { type: "boolean", default: false },
  seed: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** Returns what was typed. @throws UsageError that names what is missing or wrong. */
export function parseCalibrateArguments(words: readonly string[]) {
  const { values, positionals } = parseWords(words, options);
  const [labels, ...more] = positionals;
  if (labels === undefined)
    throw new UsageError("LABELS is missing: the file of labels, each { id, question?, truth }.");
  for (const option of ["by", "one-per"] as const) {
    if (values[option] !== "id" && values[option] !== "truth") continue;
    throw new UsageError(
      `--${option} takes a column that groups labels, such as --${option} group.`,
    );
  }
  const actions = values.action?.map(readAction);
  return {
    labels,
    answers: readAnswerNames(values.answers, more),
    out: values.out,
    maxRisk: readShare("--require", values.require ?? "5%"),
    isRequired: values.require !== undefined,
    confidence: readShare("--confidence", values.confidence),
    questions: values.question ?? actions?.map(({ question }) => question),
    actions,
    model: values.model,
    /** The column of the labels whose groups are wanted. */
    by: values.by,
    /** The column whose values are independent of each other. */
    onePer: values["one-per"],
    /** The file of the questions that were asked. */
    asked: values.questions,
    costs: values.cost === undefined ? null : readCosts(values.cost),
    onAverage: values["on-average"],
    withText: values["with-text"],
    allowUnknown: values["allow-unknown"],
    last: values.last,
    seed: readSeed(values.seed),
    json: values.json,
  };
}

function readAction(text: string): Pick<LockedThreshold, "question" | "action"> {
  const [, question = "", action] = /^(.+)=(yes|no|top)$/s.exec(text) ?? [];
  if (action === "yes" || action === "no" || action === "top") return { question, action };
  throw new UsageError(
    "--action takes a question and yes, no or top, such as --action refund=yes.",
  );
}

function readCosts(text: string): Costs {
  const parts = new Map(
    text.split(",").map((part) => {
      const [name = "", value = ""] = part.trim().split("=");
      return [name, /^\d{1,12}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN];
    }),
  );
  const [falseAct = 0, missedAct = 0] = [parts.get("falseAct"), parts.get("missedAct")];
  if (parts.size === 2 && falseAct > 0 && missedAct > 0) return { falseAct, missedAct };
  throw new UsageError("--cost takes two costs above 0, such as --cost falseAct=5,missedAct=1.");
}
