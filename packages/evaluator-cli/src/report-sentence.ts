import {
  type Basis,
  type Interval,
  LEAST_JUDGED,
  type QuestionReport,
} from "evaluator-calibration";

/** What answers that are no model's rest on, as a report calls them. */
const BASES: Record<Basis, string | null> = {
  model: null,
  recorded: "These answers are recordings, played again by the emulator; no model was asked.",
  rule: "These answers come from rules that a person wrote, not from a model.",
  lexical: "These answers come from matching words (the emulator's stand-in), not from a model.",
};

/** Returns a warning about answers that no model gave just now, or null. */
export function describeBasis(basis: Basis): string | null {
  return BASES[basis];
}

/**
 * Returns the report in one sentence, and what may be done without asking in another; `noun` names
 * the records, such as `mails`.
 */
export function summarize(report: QuestionReport, noun: string): string {
  return `${worthOf(report, noun)}${calibrationOf(report)}.${permissionOf(report)}`;
}

function permissionOf(report: QuestionReport): string {
  const { actions, noPromise } = report;
  const constant = describeConstant(report);
  if (noPromise !== null) return ` ${noPromise}`;
  if (constant !== null) return ` A${constant.slice(1)}`;
  if (actions.length === 0) return "";
  const promised = actions.flatMap((action) => action.promised ?? []);
  const [first] = promised;
  if (first === undefined) return " No threshold can be promised from these labels yet.";
  const acts = promised.map(({ action, threshold }) => {
    const what = action === "top" ? "the most probable answer" : `"${action}"`;
    return `${what} at ${threshold.toFixed(2)} and above`;
  });
  const risk = `${Number((100 * first.maxRisk).toFixed(4))} %`;
  return ` You may act on ${acts.join(", and on ")}, without asking: at most ${risk} of that is wrong, with ${percent(first.confidence)} confidence.`;
}

/**
 * Returns what always giving the commonest answer would cost, if the answers are not shown to be
 * better than that; null if they are.
 */
export function describeConstant({ verdict, scores }: QuestionReport): string | null {
  if (verdict === "useful") return null;
  const { always, wrong } = scores.constant;
  return `always "${always}" would be wrong in ${tenth(wrong.value)} (${tenth(wrong.low)} to ${tenth(wrong.high)}); the answers add nothing to that.`;
}

function tenth(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function worthOf({ question, n, verdict, scores }: QuestionReport, noun: string): string {
  const { skill, constant } = scores;
  const labelled = `your ${count(n)} labelled ${noun}`;
  const name = `\`${question}\``;
  if (verdict === "one truth only") {
    return `All of ${labelled} have one truth (${constant.always}) for ${name}: they cannot show what its answers are worth`;
  }
  const far = `${name} is worthless as far as ${labelled} show`;
  if (skill.high <= 0)
    return `On ${labelled} ${name} is worthless: always giving the base rate does better`;
  if (skill.value <= 0) return `${far}: always giving the base rate does as well or better`;
  const range = `between ${percent(skill.low)} and ${percent(skill.high)}`;
  const worth = `${percent(skill.value)} of the way from guessing to knowing`;
  const spread = n < LEAST_JUDGED ? ` (${range})` : "";
  if (verdict === "useful") return `On ${labelled} ${name} is worth ${worth}${spread}`;
  return `${far}: ${worth}, ${range}, is what guessing the base rate can have by luck`;
}

function calibrationOf({ n, curve, verdict }: QuestionReport): string {
  if (curve === null) return `; fewer than ${LEAST_JUDGED} labels show no curve (${n})`;
  if (curve.isCalibrated) {
    return verdict === "useful"
      ? ", and its probabilities hold as far as these labels show"
      : "; that its probabilities look right on average does not make them useful";
  }
  const [worst] = curve.wrongRanges;
  if (worst === undefined) return ", and its probabilities do not hold";
  const at = worst.from === worst.to ? `at ${worst.from}` : `between ${worst.from} and ${worst.to}`;
  return `, and its probabilities are ${worst.is} ${at}`;
}

/** Returns a share in whole per cent, a dash where there is none. */
export function percent(share: number): string {
  if (Number.isNaN(share)) return "–";
  return `${Math.round(100 * share).toLocaleString("en")} %`;
}

/** Returns an interval in whole per cent. */
export function range({ low, high }: Interval): string {
  return `${percent(low)} to ${percent(high)}`;
}

/** Returns a count with separated thousands. */
export function count(n: number): string {
  return n.toLocaleString("en");
}

/** Returns a difference with its sign and four decimals. */
export function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
}
