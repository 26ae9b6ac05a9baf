import type { Estimate } from "evaluator-calibration";
import { tierNames } from "../tier-question.ts";
import type { RoutingFigures } from "./evaluate-routing.ts";

/** What was run, for the reader of the figures. */
export interface EvalSource {
  readonly name: string;
  readonly decider: string;
  readonly isEmulated: boolean;
  readonly context: string;
  readonly costBasis: string;
  readonly asked: { readonly paid: number; readonly costUsd: number; readonly kept: number };
}

/** Returns a share in percent, with its interval. */
export function percent({
  share,
  low,
  high,
}: {
  share: number;
  low: number;
  high: number;
}): string {
  return `${whole(share)} (${whole(low)} to ${whole(high)})`;
}

function whole(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

/** Returns a figure of three digits, with its interval; a dash where there is none. */
export function figure(
  estimate: Estimate | null,
  format: (value: number) => string = three,
): string {
  if (estimate === null) return "–";
  return `${format(estimate.value)} (${format(estimate.low)} to ${format(estimate.high)})`;
}

function three(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** Returns in a sentence what the decisions come from, and what they cost now. */
export function describeSource({ decider, isEmulated, context, asked }: EvalSource): string {
  const stand = isEmulated
    ? ", which compares words: these figures say nothing about any model"
    : "";
  const cost = `$${asked.costUsd.toFixed(6)}`;
  return `Decided by ${decider}${stand}. Context: ${context}. Asked now: ${asked.paid} (${cost}); kept from before: ${asked.kept}.`;
}

/** Returns in a sentence what the dial of least confidence is worth. */
export function describeDial({ dial }: RoutingFigures): string {
  const { best, fittedOn, checkedOn, off, on } = dial;
  if (best === null) {
    return `The dial: off was best on ${fittedOn} prompts; no ROUTER_MIN_CONFIDENCE recovers more than it costs.`;
  }
  const change = on.value - off.value;
  const verdict = change > 0 ? "it holds" : "it does not hold";
  return `The dial: ROUTER_MIN_CONFIDENCE=${best} was best on ${fittedOn} prompts; on the other ${checkedOn} quality goes from ${three(off.quality)} to ${three(on.quality)} and cost from ${three(off.cost)} to ${three(on.cost)}: ${verdict}.`;
}

/** Returns the figures as lines for a terminal. */
export function describeFigures(figures: RoutingFigures, source: EvalSource): string {
  const { n, confusion, right, over, under, ways, orders } = figures;
  const lines = [
    `${n} prompts of ${source.name}. ${describeSource(source)}`,
    "",
    "Right tier by row, used tier by column",
    row(["", ...tierNames]),
    ...tierNames.map((tier, at) => row([tier, ...(confusion[at] ?? [])])),
    "",
    `Right ${percent(right)}, too high ${percent(over)}, too low ${percent(under)}`,
    "",
    `Quality and cost a prompt (cost: ${source.costBasis})`,
    ...ways.map(
      ({ name, quality, cost }) =>
        `  ${name.padEnd(32)}${figure(quality).padEnd(28)}${figure(cost)}`,
    ),
    "",
    "Hardest prompts first to frontier, the others to the cheapest: gap recovered",
    `  ${"".padEnd(32)}${"APGR".padEnd(28)}${"CPT(50%)".padEnd(28)}CPT(80%)`,
    ...orders.map(
      ({ name, apgr, cpt50, cpt80 }) =>
        `  ${name.padEnd(32)}${figure(apgr).padEnd(28)}${figure(cpt50).padEnd(28)}${figure(cpt80)}`,
    ),
    "",
    describeDial(figures),
  ];
  return `${lines.join("\n")}\n`;
}

function row(cells: readonly (string | number)[]): string {
  return `  ${cells.map((cell) => String(cell).padEnd(12)).join("")}`.trimEnd();
}
