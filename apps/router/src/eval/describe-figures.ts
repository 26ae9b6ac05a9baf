import { type Decider, describeDecider } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import { figure, percent } from "./estimates.ts";
import type { RoutingFigures } from "./evaluate-routing.ts";

/** The source of the figures. */
export interface EvalSource {
  readonly name: string;
  readonly decider: Decider;
  readonly context: string;
  readonly costBasis: string;
  readonly asked: { readonly paid: number; readonly costUsd: number; readonly kept: number };
}

/** Describes the decisions and their costs in a sentence. */
export function describeSource({ decider, context, asked }: EvalSource): string {
  const stand = decider.isEmulated === true ? ": these figures describe no model" : "";
  const cost = `$${asked.costUsd.toFixed(6)}`;
  return `Decided by ${describeDecider(decider)}${stand}. Context: ${context}. Asked now: ${asked.paid} (${cost}); kept from before: ${asked.kept}.`;
}

/** Returns the figures as lines for a terminal. */
export function describeFigures(figures: RoutingFigures, source: EvalSource): string {
  const { n, confusion, right, over, under, ways, orders, advice } = figures;
  const { isEmulated } = source.decider;
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
    advice.sentence + (isEmulated === true ? " The emulator decided, not a model." : ""),
  ];
  return `${lines.join("\n")}\n`;
}

function row(cells: readonly (string | number)[]): string {
  return `  ${cells.map((cell) => String(cell).padEnd(12)).join("")}`.trimEnd();
}
