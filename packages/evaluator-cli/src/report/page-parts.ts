import type { ActionReport, CurveReport } from "evaluator-calibration/reports";
import { percent, percentRange, printAtMost, printThreshold } from "evaluator-kit";
import { band, curve, dot, histogram, type Html, plot } from "evaluator-kit/page";
import { printCount, printCounted } from "evaluator-runs/source";

/** The link to the footer of a report. */
export const METHOD = { href: "#method", name: "How it was computed" };
/** The definition of skill in the footer of a report. */
export const SKILL = "Skill is 1 − Brier score / that of always giving the base rate";
/** The last sentence of a report. */
export const NOT_UPLOADED =
  "Nothing of this page is uploaded; report.json beside it holds the same numbers.";

type Points = CurveReport["points"];

const toPoints = (...all: readonly (readonly [x: number, y: number])[]) =>
  all.map(([x, y]) => ({ x, y }));

const CHANCE = "90 % of lines lie here if every printed value is true";

/** Returns the plot of the observed rate against the printed probability, with the band of chance. */
export function curvePlot(
  points: Points,
  { what, title }: { readonly what: string; readonly title: string },
): Html {
  const name = `${what}: observed against printed`;
  const y = { domain: [0, 1], label: "came true", format: percent } as const;
  const options = {
    title,
    name,
    x: { domain: [0, 1], label: "printed probability" },
    y,
    about: "How often it came true, by the printed probability. ▲: outside the shaded band.",
    keys: [
      ["curve", "observed rate (isotonic)"],
      ["band", CHANCE],
      ["guide", "as printed"],
    ],
    head: ["printed", "rows", "came true", "line", "band"],
    rows: points.map((point) => [
      point.p.toFixed(2),
      printCount(point.n),
      percent(point.raw),
      percent(point.observed),
      percentRange(point),
    ]),
  } as const;
  const chance = points.map(({ p, low, high }) => ({ x: p, low, high }));
  const line = points.map(({ p, observed: observedValue }) => ({ x: p, y: observedValue }));
  return plot(options, (scales) => [
    band(chance, scales, CHANCE),
    curve(toPoints([0, 0], [1, 1]), scales, { look: "guide", title: "As printed" }),
    curve(line, scales, { title: "Observed rate" }),
    points.map(({ p, n, observed: observedValue, low, high }) => {
      const isOutside = observedValue < low || observedValue > high;
      const words = `printed ${p.toFixed(2)}: ${percent(observedValue)} came true (${printCounted(n, "row")})`;
      return dot({ x: p, y: observedValue, title: words }, scales, { isOutside });
    }),
  ]);
}

/** Returns the histogram of the printed probabilities. */
export function histogramPlot(points: Points, what: string): Html {
  const values = points.map(({ p, n }) => [p, n] as const);
  return histogram(values, {
    title: "Rows by printed probability",
    name: `${what}: how many rows have which printed probability`,
    x: { domain: [0, 1.02], label: "printed probability" },
    step: 0.02,
    counted: "rows",
    height: 120,
  });
}

/** Returns the plot of risk against coverage, one line for each action. */
export function riskPlot(actions: readonly ActionReport[], maxRisk: number, what: string): Html {
  const all = actions.flatMap(({ riskCoverage }) => riskCoverage);
  const top = Math.min(1, Math.max(3 * maxRisk, ...all.map(({ risk }) => risk)) + 0.05);
  const interval = actions[0]?.riskCoverage.map(({ coverage, low, high }) => {
    return { x: coverage, low: Math.min(low, top), high: Math.min(high, top) };
  });
  const limit = `the limit of ${printAtMost(maxRisk)}`;
  const certain = "95 % interval of the solid line";
  const options = {
    title: "What may I do without asking?",
    name: `${what}: risk against coverage`,
    about: "Share wrong if that share of rows is acted upon, the safest first. ○: the gate.",
    keys: [
      ...actions.map(({ action }, index) => [toLine(index), toName(action)] as const),
      ["band", certain] as const,
      ["limit", limit] as const,
    ],
    x: { domain: [0, 1], label: "share of all rows", format: percent },
    y: { domain: [0, top], label: "wrong among them", format: percent },
    head: ["act", "threshold", "share of rows", "wrong", "interval"],
    rows: actions.flatMap(({ action, riskCoverage }) =>
      riskCoverage.map((point) => [
        toName(action),
        printThreshold(point.threshold),
        percent(point.coverage),
        percent(point.risk),
        percentRange(point),
      ]),
    ),
  } as const;
  return plot(options, (scales) => [
    interval === undefined ? null : band(interval, scales, certain),
    curve(toPoints([0, maxRisk], [1, maxRisk]), scales, { look: "limit", title: limit }),
    actions.map(({ action, riskCoverage, promised: promisedThreshold }, index) => {
      const line = riskCoverage.map(({ coverage, risk }) => ({ x: coverage, y: risk }));
      const at = riskCoverage.findLast(
        ({ threshold }) => threshold >= (promisedThreshold?.threshold ?? 2),
      );
      const gate =
        at && `${toName(action)} ≥ ${printThreshold(at.threshold)}: ${percent(at.risk)} wrong`;
      return [
        curve(line, scales, { look: toLine(index), title: toName(action) }),
        at && gate ? dot({ x: at.coverage, y: at.risk, title: gate }, scales) : null,
      ];
    }),
  ]);
}

function toLine(index: number) {
  return index === 0 ? "curve" : "curve dashed";
}

/** Returns an action in a word, such as `yes`. */
export function toName(action: ActionReport["action"]): string {
  return action === "top" ? "most probable" : action;
}
