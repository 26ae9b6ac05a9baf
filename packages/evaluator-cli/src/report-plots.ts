import type { ActionReport, BandedPoint } from "evaluator-calibration";
import { band, bars, curve, dot, html, type Html, name, plot } from "evaluator-kit/page";

const percent = (share: number) => `${Math.round(100 * share)} %`;
const printedAxis = { domain: [0, 1], label: "printed probability" } as const;

/** Returns the curve of what came true against what was printed, with the band of chance. */
export function curvePlot(points: readonly BandedPoint[], what: string): Html {
  const title = `${what}: what came true against what was printed`;
  const y = { domain: [0, 1], label: "came true", format: percent } as const;
  return plot({ title, x: printedAxis, y, height: 290 }, (scales) => [
    band(
      points.map(({ p, low, high }) => ({ x: p, low, high })),
      scales,
    ),
    curve(
      [
        { x: 0, y: 0 },
        { x: 1, y: 1 },
      ],
      scales,
      "guide",
    ),
    curve(
      points.map(({ p, observed }) => ({ x: p, y: observed })),
      scales,
      "curve",
    ),
    points.map(({ p, observed, low, high }) => {
      const isOutside = observed < low || observed > high;
      return dot({ x: p, y: observed }, scales, { isOutside });
    }),
  ]);
}

/** Returns how many rows have which printed value. */
export function histogramPlot(points: readonly BandedPoint[], what: string): Html {
  const counts = Array.from({ length: 50 }, (_, bin) => ({
    from: bin / 50,
    to: (bin + 1) / 50,
    count: 0,
  }));
  for (const { p, n } of points) {
    const bin = counts[Math.min(49, Math.floor(50 * p + 1e-9))];
    if (bin !== undefined) bin.count += n;
  }
  const most = Math.max(1, ...counts.map(({ count }) => count));
  const y = { domain: [0, most], label: "rows", ticks: 2, format: compact } as const;
  const title = `${what}: how many rows have which printed probability`;
  return plot({ title, x: printedAxis, y, height: 110 }, (scales) =>
    bars(
      counts.filter(({ count }) => count > 0),
      scales,
    ),
  );
}

function compact(count: number): string {
  return count.toLocaleString("en", { notation: "compact" });
}

/** Returns the risk of acting against the share of rows that is acted on, one line an action. */
export function riskPlot(actions: readonly ActionReport[], maxRisk: number): Html {
  const all = actions.flatMap(({ riskCoverage }) => riskCoverage);
  const top = Math.min(1, Math.max(3 * maxRisk, ...all.map(({ risk }) => risk)) + 0.05);
  const x = { domain: [0, 1], label: "share of all rows acted on", format: percent } as const;
  const y = { domain: [0, top], label: "wrong among them", format: percent } as const;
  const [first] = actions;
  return plot({ title: "Risk against coverage", x, y, height: 230 }, (scales) => [
    first === undefined
      ? null
      : band(
          first.riskCoverage.map(({ coverage, low, high }) => ({
            x: coverage,
            low: Math.min(low, top),
            high: Math.min(high, top),
          })),
          scales,
        ),
    curve(
      [
        { x: 0, y: maxRisk },
        { x: 1, y: maxRisk },
      ],
      scales,
      "limit",
    ),
    name(
      `${Number((100 * maxRisk).toFixed(2))} %`,
      { x: 1, y: maxRisk, anchor: "end", dx: 0, dy: -4 },
      scales,
    ),
    actions.map(({ action, riskCoverage, promised }, index) => {
      const line = riskCoverage.map(({ coverage, risk }) => ({ x: coverage, y: risk }));
      const at = riskCoverage.findLast(({ threshold }) => threshold >= (promised?.threshold ?? 2));
      const end = line.at(Math.floor(line.length / 2)) ?? { x: 0, y: 0 };
      return [
        curve(line, scales, index === 0 ? "curve" : "curve dashed"),
        actions.length < 2 ? null : name(action, end, scales),
        at === undefined
          ? null
          : html`${dot({ x: at.coverage, y: at.risk }, scales)}${name(`${action} ≥ ${at.threshold.toFixed(2)}`, { x: at.coverage, y: at.risk, dy: -9 }, scales)}`,
      ];
    }),
  ]);
}
