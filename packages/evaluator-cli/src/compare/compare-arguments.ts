import { DEFAULT_SEED } from "evaluator-calibration";
import {
  parseWords,
  readDecimal,
  readPositionals,
  readWholeNumber,
  UsageError,
} from "evaluator-kit";
import { readSeed, readShare } from "../shared-arguments.ts";
import { engineUsage } from "../engines/engine.ts";

export const compareUsage = `
Usage: evaluator compare [LABELS] --engine ENGINE --engine ENGINE... [options]

Asks several engines the same questions about the same records, and says how far they agree, what
each is worth on your labels, how long it takes and what it costs. Every answer is kept at once in
DIR/answers.sqlite: the same command again asks only for what is missing.
LABELS   as for calibrate; without them the page shows agreement alone. A label may hold the state
Ends with 0: compared (with --margin: all are as good as the first). 1: bad input, no answers, or
one is worse by more than the margin. 3: the labels are too few to say.

  --states FILE      a triage journal (.triage.sqlite), or records { id, state }; where there is no
                     state, the other fields are it [the labels' own field state]
  --questions FILE   a JSON object of id to { type, instructions, criteria } [the journal's]
  --out DIR          where report.html, report.json and answers.sqlite go [comparison]
  --margin 0.02      how much higher a Brier score may be and still be called as good as the first
  --calibrated       fits each engine on one half of the labels and compares on the other
  --require 5%       the risk of the promised thresholds [5%]
  --max-cost USD     stops before this run has spent more
  --concurrency N    requests at once [4]
  --with-text        the page shows the states that engines disagree about, not their ids alone
  --allow-unknown    counts labels whose id no state has, instead of refusing them
  --last             takes the last of several labels for one record
  --seed N           of what is drawn at random [${DEFAULT_SEED}]
  --json             prints the comparison as JSON
${engineUsage}`;

/** What a comparison is wanted of. */
export type CompareArguments = ReturnType<typeof parseCompareArguments>;

const options = {
  engine: { type: "string", multiple: true, default: [] as string[] },
  states: { type: "string" },
  questions: { type: "string" },
  out: { type: "string", default: "comparison" },
  margin: { type: "string" },
  calibrated: { type: "boolean", default: false },
  require: { type: "string", default: "5%" },
  "max-cost": { type: "string" },
  concurrency: { type: "string", default: "4" },
  "with-text": { type: "boolean", default: false },
  "allow-unknown": { type: "boolean", default: false },
  last: { type: "boolean", default: false },
  seed: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** Returns what was typed. @throws UsageError that names what is missing or wrong. */
export function parseCompareArguments(words: readonly string[]) {
  const { values, positionals } = parseWords(words, options);
  const [labels = null] = readPositionals(positionals, ["LABELS"], { optional: 1 });
  const engines = values.engine;
  if (engines.length < 2) throw new UsageError("--engine is wanted twice or more often.");
  const twice = engines.find((engine, at) => engines.indexOf(engine) !== at);
  if (twice !== undefined) throw new UsageError(`--engine ${twice} is given twice.`);
  if (labels === null && values.states === undefined) {
    throw new UsageError("LABELS or --states is missing: what to ask about.");
  }
  const needsLabels = values.margin !== undefined || values.calibrated;
  if (labels === null && needsLabels) {
    throw new UsageError("--margin and --calibrated need LABELS.");
  }
  return {
    labels,
    states: values.states ?? null,
    questions: values.questions ?? null,
    engines,
    out: values.out,
    margin: values.margin === undefined ? null : readDecimal("--margin", values.margin, { max: 2 }),
    isCalibrated: values.calibrated,
    maxRisk: readShare("--require", values.require),
    confidence: 0.95,
    maxCostUsd:
      values["max-cost"] === undefined
        ? Number.POSITIVE_INFINITY
        : readDecimal("--max-cost", values["max-cost"], { what: "US dollars" }),
    concurrency: readWholeNumber("--concurrency", values.concurrency, { min: 1, max: 256 }),
    withText: values["with-text"],
    allowUnknown: values["allow-unknown"],
    last: values.last,
    seed: readSeed(values.seed),
    json: values.json,
  };
}
