import type { ActionReport, CurveReport } from "evaluator-calibration/reports";
import { printShare } from "evaluator-kit";
import { percent } from "./sentences.ts";
import { band, bars, curve, dot, html, type Html, name, plot } from "evaluator-kit/page";

const compact = (count: number) => count.toLocaleString("en", { notation: "compact" });
const printedAxis = { domain: [0, 1], label: "printed probability" } as const;

type Points = CurveReport["points"];

const toPoints = (...all: readonly (readonly [x: number, y: number])[]) =>
  all.map(([x, y]) => ({ x, y }));

/** Returns a question's curve above the histogram of its printed probabilities. */
export function curvePlots(points: Points, what: string): Html {
  return html`${curvePlot(points, what)} ${histogramPlot(points, what)}`;
}

/** Returns the plot of the observed rate against the printed probability, with the band of chance. */
function curvePlot(points: Points, what: string): Html {
  const title = `${what}: observed against printed`;
  const y = { domain: [0, 1], label: "came true", format: percent } as const;
  const chance = points.map(({ p, low, high }) => ({ x: p, low, high }));
  const line = points.map(({ p, observed }) => ({ x: p, y: observed }));
  return plot({ title, x: printedAxis, y, height: 290 }, (scales) => [
    band(chance, scales),
    curve(toPoints([0, 0], [1, 1]), scales, "guide"),
    curve(line, scales, "curve"),
    points.map(({ p, observed, low, high }) => {
      const isOutside = observed < low || observed > high;
      return dot({ x: p, y: observed }, scales, { isOutside });
    }),
  ]);
}

/** Returns the histogram of the printed probabilities. */
function histogramPlot(points: Points, what: string): Html {
  const binOf = ({ p }: Points[number]) => Math.min(49, Math.floor(50 * p + 1e-9));
  const bins = Array.from(Map.groupBy(points, binOf), ([bin, found]) => {
    const count = found.reduce((sum, { n }) => sum + n, 0);
    return { from: bin / 50, to: (bin + 1) / 50, count };
  });
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const y = { domain: [0, most], label: "rows", ticks: 2, format: compact } as const;
  const title = `${what}: how many rows have which printed probability`;
  return plot({ title, x: printedAxis, y, height: 110 }, (scales) => bars(bins, scales));
}

/** Returns the plot of risk against coverage, one line for each action. */
export function riskPlot(actions: readonly ActionReport[], maxRisk: number): Html {
  const all = actions.flatMap(({ riskCoverage }) => riskCoverage);
  const top = Math.min(1, Math.max(3 * maxRisk, ...all.map(({ risk }) => risk)) + 0.05);
  const x = { domain: [0, 1], label: "share of all rows acted on", format: percent } as const;
  const y = { domain: [0, top], label: "wrong among them", format: percent } as const;
  const interval = actions[0]?.riskCoverage.map(({ coverage, low, high }) => {
    return { x: coverage, low: Math.min(low, top), high: Math.min(high, top) };
  });
  const limit = printShare(maxRisk);
  return plot({ title: "Risk against coverage", x, y, height: 230 }, (scales) => [
    interval === undefined ? null : band(interval, scales),
    curve(toPoints([0, maxRisk], [1, maxRisk]), scales, "limit"),
    name(limit, { x: 1, y: maxRisk, anchor: "end", dx: 0, dy: -4 }, scales),
    actions.map(({ action, riskCoverage, promised }, index) => {
      const line = riskCoverage.map(({ coverage, risk }) => ({ x: coverage, y: risk }));
      const at = riskCoverage.findLast(({ threshold }) => threshold >= (promised?.threshold ?? 2));
      const end = line.at(Math.floor(line.length / 2)) ?? { x: 0, y: 0 };
      const mark = at && { x: at.coverage, y: at.risk, dy: -9 };
      return [
        curve(line, scales, index === 0 ? "curve" : "curve dashed"),
        actions.length < 2 ? null : name(action, end, scales),
        mark === undefined ? null : dot(mark, scales),
        mark && at ? name(`${action} ≥ ${at.threshold.toFixed(2)}`, mark, scales) : null,
      ];
    }),
  ]);
}

/** The style of both pages: a question of `calibrate` fits on one sheet of A4. */
export const pageStyle = `
h1 { font-size: 1.15rem; letter-spacing: -0.01em; }
h2 { font-size: 1.35rem; line-height: 1.3; font-weight: 650; letter-spacing: -0.015em; margin: 0.35rem 0 0.5rem; text-wrap: balance; }
h2 code { font-size: 0.95em; }
h3 { font-size: 0.95rem; margin-bottom: 0.4rem; }
.quiet, figcaption { color: var(--quiet); font-size: 0.87rem; }
.notice { margin: 0.5rem 0; padding: 0.4rem 0.75rem; border-left: 4px solid var(--warn); background: var(--warn-back); font-size: 0.9rem; }
.question { margin-top: 2rem; }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 0.75rem; margin: 0.9rem 0; }
.tiles div { padding: 0.6rem 0.85rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
.tiles dt { color: var(--quiet); font-size: 0.8rem; }
.tiles dd { font-size: 1.3rem; font-weight: 650; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.tiles dd small { display: block; color: var(--quiet); font-size: 0.78rem; font-weight: 400; line-height: 1.35; }
.columns { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.75rem; align-items: start; }
.card { padding: 0.75rem 0.95rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); min-width: 0; }
.stack { display: grid; gap: 0.75rem; min-width: 0; }
.card ul { margin: 0; padding-left: 1.1rem; }
.card li + li { margin-top: 0.3rem; }
.table { width: 100%; font-size: 0.85rem; }
.table th, .table td { padding: 0.16rem 0.7rem 0.16rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.table td, .table th + th { text-align: right; }
.table tbody th { font-weight: 400; white-space: normal; overflow-wrap: anywhere; }
.table tbody tr:last-child > * { border-bottom: 0; }
.card .worst { columns: 2; column-gap: 1.5rem; margin: 0; padding: 0; list-style: none; font-size: 0.85rem; }
.worst li { break-inside: avoid; margin: 0 0 0.15rem; overflow-wrap: anywhere; }
footer { margin-top: 1.5rem; color: var(--quiet); font-size: 0.8rem; overflow-wrap: anywhere; }
@media (max-width: 46rem) {
  body { padding: 1.25rem 0.8rem 2rem; }
  h2 { font-size: 1.15rem; }
  svg text { font-size: 13px; }
  .tiles { grid-template-columns: repeat(2, 1fr); gap: 0.5rem; }
  .columns { grid-template-columns: minmax(0, 1fr); }
  .card .worst { columns: 1; }
}
@page { size: A4; margin: 9mm; }
@media print {
  html { font-size: 10.5px; }
  body { padding: 0; max-width: none; font-size: 9.5px; line-height: 1.35; }
  h1 { font-size: 11px; } h2 { font-size: 15px; margin: 2px 0 4px; } h3 { font-size: 10.5px; margin-bottom: 2px; }
  .question { margin-top: 0; }
  .question + .question { break-before: page; }
  .question.small + .question.small { break-before: auto; margin-top: 10px; }
  .tiles { grid-template-columns: repeat(4, 1fr); gap: 5px; margin: 5px 0; }
  .tiles div, .card { padding: 4px 7px; border-radius: 5px; }
  .tiles dd { font-size: 13px; }
  .columns { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 5px; }
  .stack { gap: 5px; }
  .notice { margin: 3px 0; padding: 2px 6px; }
  .card .worst { columns: 2; }
  .card, .tiles, tr { break-inside: avoid; }
  footer { margin-top: 6px; font-size: 8px; }
  .table th, .table td { padding-block: 0.5px; }
}
`;
