import { columnsOf, toPrintablePath } from "evaluator-kit";
import { count, describeBasis, percent, signed } from "../report/sentences.ts";
import type {
  ComparedEngine,
  ComparedQuestion,
  Comparison,
  EngineOnQuestion,
} from "./comparison.ts";

/** Returns the comparison in lines for a terminal. */
export function printComparison(comparison: Comparison): string {
  const { notes, engines, questions } = comparison;
  const lines = [
    ...notes,
    ...alignRows([
      ["engine", "answered", "failed", "p50", "p95", "per 1,000"],
      ...engines.map((engine) => [engine.name].concat(describeWork(engine))),
    ]),
    ...engines.flatMap(({ name, failures }) =>
      failures.slice(0, 3).map(({ message, n }) => `${name}: ${n} × ${message}`),
    ),
    ...questions.flatMap((question) => ["", describeQuestion(question, comparison)].flat()),
  ];
  return `${lines.map(toPrintablePath).join("\n")}\n`;
}

/** Returns the counts, times and price of an engine. */
export function describeWork(engine: ComparedEngine): string[] {
  const { answered, failed, p50Ms, p95Ms, costPer1000Usd: usd } = engine;
  const [p50, p95] = [p50Ms, p95Ms].map((time) =>
    time === null ? "–" : `${count(Math.round(time))} ms`,
  ) as [string, string];
  const price = usd === null ? "unknown" : `$${usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2)}`;
  return [count(answered), count(failed), p50, p95, price];
}

/** The head of the figures that `describeFigures` returns. */
export const figureHead = "labels worth skill accuracy miscal. AUC flips promise".split(" ");

/** Returns the figures of an engine on one question. */
export function describeFigures({ report, flips }: EngineOnQuestion): string[] {
  const flipped = flips === null ? "–" : percent(flips);
  if (report === null) return ["0", "–", "–", "–", "–", "–", flipped, "–"];
  const { n, verdict, scores, curve, actions } = report;
  const promised = actions.filter((action) => action.promised !== null);
  const [first] = promised.toSorted((one, other) => (other.coverage ?? 0) - (one.coverage ?? 0));
  return [
    count(n),
    verdict,
    percent(scores.skill.value),
    percent(scores.accuracy.value),
    curve === null ? "–" : `${curve.isCalibrated ? "✓" : "✗"} ${curve.miscalibration.toFixed(4)}`,
    Number.isNaN(scores.auc.auc) ? "–" : scores.auc.auc.toFixed(2),
    flipped,
    first === undefined || first.promised === null
      ? "none"
      : `${first.action} ≥ ${first.promised.threshold.toFixed(2)} (${percent(first.coverage ?? 0)})`,
  ];
}

/** Returns the difference to the first engine in one line; null for the first, and without labels. */
export function describeDifference(
  { name, difference, judgement }: EngineOnQuestion,
  margin: Comparison["margin"],
): string | null {
  if (difference === null) return null;
  const { n, brierDifference, onlyBeforeRight, onlyAfterRight, pValue } = difference;
  const { mean, low, high } = brierDifference;
  const words = {
    first: "",
    "no margin": "",
    "as good": `as good as the first within ${margin}; `,
    worse: `worse than the first by more than ${margin}; `,
    "not shown": `not shown to be as good as the first within ${margin}; `,
  };
  return `${name}: ${words[judgement]}Brier score ${signed(mean)} (${signed(low)} to ${signed(high)}; above 0 is worse) on ${count(n)} labels; right alone ${count(onlyAfterRight)}, the first alone ${count(onlyBeforeRight)} (p ${pValue.toFixed(3)})`;
}

function describeQuestion(compared: ComparedQuestion, { margin }: Comparison): string[] {
  const { question, engines, agreements } = compared;
  const bases = new Set(engines.map(({ report }) => report?.source.basis ?? "model"));
  const rows = engines.map((one) => [one.name, ...describeFigures(one)]);
  const lines = [
    ...alignRows([["", ...figureHead], ...rows]),
    ...engines.flatMap((engine) => describeDifference(engine, margin) ?? []),
    ...agreements.map(
      ({ first, second, n, equalDecisions, meanTotalVariation }) =>
        `${first} and ${second}: equal decisions ${percent(equalDecisions)} of ${count(n)}, mean total variation ${meanTotalVariation.toFixed(3)}`,
    ),
    ...[...bases].flatMap((basis) => describeBasis(basis) ?? []),
  ];
  return [question, ...lines.map((line) => `  ${line}`)];
}

function widthOf(cell = ""): number {
  return columnsOf(toPrintablePath(cell));
}

/** Returns rows as lines; every column but the first is right-aligned. */
function alignRows(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => widthOf(row[at]))));
  return rows.map((row) => {
    const cells = row.map((cell, at) => {
      const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(cell)));
      return at === 0 ? cell + space : space + cell;
    });
    return cells.join("  ");
  });
}
