import type { ActionReport, CurveReport } from "evaluator-calibration/reports";
import { percent, percentRange, printAtMost, printThreshold } from "evaluator-kit";
import { band, curve, dot, histogram, type Html, plot } from "evaluator-kit/page";
import { printCount, printCounted } from "evaluator-runs/source";

/** The link to the footer of a report. */
export const METHOD = { href: "#method", name: "How it was computed" };
/** The definition of skill in the footer of a report. */
export const SKILL = "Skill is 1 − Brier score / that of always giving the base rate";
/** The last sentence of a report. */
export const NOT_UPLOADED = "Nothing is uploaded; report.json has the same numbers.";

type Points = CurveReport["points"];

const toPoints = (...pairs: readonly (readonly [x: number, y: number])[]) =>
  pairs.map(([x, y]) => ({ x, y }));

const CHANCE = "90 % of lines are here if printed values are true";

/** Returns the plot of the observed rate against the printed probability, with the band of chance. */
export function renderCurvePlot(
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
    about: "How often it came true, by printed probability. ▲: outside the band.",
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
  const chanceBand = points.map(({ p, low, high }) => ({ x: p, low, high }));
  const linePoints = points.map(({ p, observed: observedValue }) => ({ x: p, y: observedValue }));
  return plot(options, (scales) => [
    band(chanceBand, scales, CHANCE),
    curve(toPoints([0, 0], [1, 1]), scales, { look: "guide", title: "As printed" }),
    curve(linePoints, scales, { title: "Observed rate" }),
    points.map(({ p, n, observed: observedValue, low, high }) => {
      const isOutside = observedValue < low || observedValue > high;
      const dotTitle = `printed ${p.toFixed(2)}: ${percent(observedValue)} came true (${printCounted(n, "row")})`;
      return dot({ x: p, y: observedValue, title: dotTitle }, scales, { isOutside });
    }),
  ]);
}

/** Returns the histogram of the printed probabilities. */
export function renderHistogramPlot(points: Points, subject: string): Html {
  const printedCounts = points.map(({ p, n }) => [p, n] as const);
  return histogram(printedCounts, {
    title: "Rows by printed probability",
    name: `${subject}: how many rows have which printed probability`,
    x: { domain: [0, 1.02], label: "printed probability" },
    step: 0.02,
    counted: "rows",
    height: 120,
  });
}

/** Returns the plot of risk against coverage, one line for each action. */
export function renderRiskPlot(
  actions: readonly ActionReport[],
  maxRisk: number,
  subject: string,
): Html {
  const riskPoints = actions.flatMap(({ riskCoverage }) => riskCoverage);
  const topRisk = Math.min(1, Math.max(3 * maxRisk, ...riskPoints.map(({ risk }) => risk)) + 0.05);
  const riskInterval = actions[0]?.riskCoverage.map(({ coverage, low, high }) => {
    return { x: coverage, low: Math.min(low, topRisk), high: Math.min(high, topRisk) };
  });
  const limitTitle = `the limit of ${printAtMost(maxRisk)}`;
  const intervalTitle = "95 % interval of the solid line";
  const options = {
    title: "What may I do without asking?",
    name: `${subject}: risk against coverage`,
    about: "Share wrong by share of rows acted upon, the safest first. ○: the gate.",
    keys: [
      ...actions.map(({ action }, index) => [toLineLook(index), toActionName(action)] as const),
      ["band", intervalTitle] as const,
      ["limit", limitTitle] as const,
    ],
    x: { domain: [0, 1], label: "share of all rows", format: percent },
    y: { domain: [0, topRisk], label: "wrong among them", format: percent },
    head: ["act", "threshold", "share of rows", "wrong", "interval"],
    rows: actions.flatMap(({ action, riskCoverage }) =>
      riskCoverage.map(({ threshold, coverage, risk, low, high }) => [
        toActionName(action),
        printThreshold(threshold),
        percent(coverage),
        percent({ value: risk, low, high }),
        percentRange({ value: risk, low, high }),
      ]),
    ),
  } as const;
  return plot(options, (scales) => [
    riskInterval === undefined ? null : band(riskInterval, scales, intervalTitle),
    curve(toPoints([0, maxRisk], [1, maxRisk]), scales, { look: "limit", title: limitTitle }),
    actions.map(({ action, riskCoverage, promised: promisedThreshold }, index) => {
      const linePoints = riskCoverage.map(({ coverage, risk }) => ({ x: coverage, y: risk }));
      const gatePoint = riskCoverage.findLast(
        ({ threshold }) => threshold >= (promisedThreshold?.threshold ?? 2),
      );
      const gateTitle =
        gatePoint &&
        `${toActionName(action)} ≥ ${printThreshold(gatePoint.threshold)}: ${percent(gatePoint.risk)} wrong`;
      return [
        curve(linePoints, scales, { look: toLineLook(index), title: toActionName(action) }),
        gatePoint && gateTitle
          ? dot({ x: gatePoint.coverage, y: gatePoint.risk, title: gateTitle }, scales)
          : null,
      ];
    }),
  ]);
}

function toLineLook(index: number) {
  return index === 0 ? "curve" : "curve dashed";
}

/** Returns an action in a word, such as `yes`. */
export function toActionName(action: ActionReport["action"]): string {
  return action === "top" ? "most probable" : action;
}
