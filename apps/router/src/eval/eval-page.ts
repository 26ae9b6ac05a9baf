import { toPrintable } from "evaluator-kit";
import { html, type Html, page, table } from "evaluator-kit/page";
import { type Decider, describeDecider } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import { figure, percent } from "../labels/figures.ts";
import { costPlot, gainPlot } from "./eval-plots.ts";
import type { evaluateRouting } from "./evaluate-routing.ts";

const style = `
main { display: grid; gap: 1.25rem; margin-top: 1.25rem; }
main > * { min-width: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin-bottom: 0.5rem; }
.notice { margin-top: 0.35rem; color: var(--quiet); }
.pair { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.dominated .point, .dominated .name { fill: var(--quiet); }
.warning { margin-top: 0.75rem; padding: 0.5rem 0.75rem; background: var(--warn-back); color: var(--warn); border-radius: 8px; }
`;

type RoutingFigures = ReturnType<typeof evaluateRouting> & {
  readonly name: string;
  readonly decider: Decider;
  readonly costBasis: string;
  readonly asked: { readonly paid: number; readonly costUsd: number; readonly kept: number };
};

/** Returns the figures as a page without scripts. */
export function evalPage(figures: RoutingFigures): string {
  const title = "Is the routing any good?";
  const { costBasis } = figures;
  const { confusion, ways, orders, categories } = tablesOf(figures);
  const body = html`<h1>${title}</h1>
    <p class="notice">${describeSource(figures)}</p>
    ${figures.decider.isEmulated === true ? html`<p class="warning">The emulator decided, not a model.</p>` : null}
    <main>
      ${card("Advice", html`<p>${figures.advice.sentence}</p>`)}
      <div class="pair">
        ${card(
          "The gap recovered, hardest prompts first",
          gainPlot(figures),
          "Across: the share of prompts that frontier answers, the others go to the cheapest tier. Up: the recovered part of the quality between the two.",
        )}
        ${card("Quality against cost", costPlot(figures), `Cost a prompt: ${costBasis}. Grey: another way is as good and costs no more.`)}
      </div>
      ${confusion && card("Right tier by row, used tier by column", table(["right tier", ...tierNames], confusion), describeTiers(figures))}
      ${card("Beside simpler ways", table(["way", "quality", "cost"], ways))}
      ${categories.length === 0 ? null : card("By category", table(categoryFigures, categories))}
      ${card(
        "Value of the order",
        table(["order by", ...orderFigures], orders),
        "APGR: the mean gap recovered over all shares. CPT: the least share of frontier calls that recovers half, or four fifths. In brackets: 95 % of draws with replacement, and Wilson's intervals for shares.",
      )}
    </main>`;
  return page({ title, style, body });
}

/** Returns a card with a notice below its content. */
function card(title: string, content: Html, notice?: string): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    ${content} ${notice === undefined ? null : html`<p class="notice">${notice}</p>`}
  </section>`;
}

const orderFigures = ["APGR", "CPT(50%)", "CPT(80%)"];

const categoryFigures = ["category", "prompts", "as routed", "the cheapest", "frontier", "cost"];

function tablesOf({ confusion, ways, orders, categories }: RoutingFigures) {
  return {
    confusion:
      confusion && tierNames.map((tier, at) => [tier, ...(confusion[at] ?? []).map(String)]),
    ways: ways.map(({ name, quality, cost }) => [name, figure(quality), figure(cost)]),
    orders: orders.map(({ name, apgr, cpt50, cpt80 }) => [
      name,
      ...[apgr, cpt50, cpt80].map((each) => figure(each)),
    ]),
    categories: categories.map(({ name, n, ways: [routed, ...others] }) => [
      toPrintable(name),
      String(n),
      ...[routed, ...others].map((way) => figure(way?.quality ?? null)),
      figure(routed?.cost ?? null),
    ]),
  };
}

function describeTiers({ right, over, under }: RoutingFigures): string {
  return `Right ${percent(right)}, too high ${percent(over)}, too low ${percent(under)}`;
}

function describeSource({ n, name, decider, asked }: RoutingFigures): string {
  const stand = decider.isEmulated === true ? ": these figures describe no model" : "";
  const cost = `$${asked.costUsd.toFixed(6)}`;
  return `${n} prompts of ${name}. Decided by ${describeDecider(decider)}${stand}. Asked now: ${asked.paid} (${cost}); kept from before: ${asked.kept}.`;
}

/** Returns the figures as lines for a terminal. */
export function describeFigures(figures: RoutingFigures): string {
  const { advice, costBasis, decider } = figures;
  const { confusion, ways, orders, categories } = tablesOf(figures);
  const tiers = [["", ...tierNames], ...(confusion ?? [])].map((cells) => row(cells, 12));
  const lines = [
    describeSource(figures),
    "",
    ...(confusion === null
      ? []
      : ["Right tier by row, used tier by column", ...tiers, "", describeTiers(figures), ""]),
    `Quality and cost a prompt (cost: ${costBasis})`,
    ...ways.map((cells) => row(cells, 32)),
    "",
    "Hardest prompts first to frontier, the others to the cheapest: gap recovered",
    ...[["", ...orderFigures], ...orders].map((cells) => row(cells, 32)),
    ...(categories.length === 0
      ? []
      : ["", ...[categoryFigures, ...categories].map((cells) => row(cells, 22))]),
    "",
    advice.sentence + (decider.isEmulated === true ? " The emulator decided, not a model." : ""),
  ];
  return `${lines.join("\n")}\n`;
}

function row([first = "", ...cells]: readonly string[], width: number): string {
  const others = cells.map((cell) => cell.padEnd(Math.min(width, 28))).join("");
  return `  ${first.padEnd(width)}${others}`.trimEnd();
}
