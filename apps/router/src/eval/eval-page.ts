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
  const cost = "Grey: another way is as good and costs no more.";
  const gain =
    "Across: the share of prompts that frontier answers, the others go to the cheapest tier. Up: the recovered part of the quality between the two.";
  const body = html`<h1>${title}</h1>
    <p class="notice">${describeSource(figures)}</p>
    ${figures.decider.isEmulated === true ? html`<p class="warning">The emulator decided, not a model.</p>` : null}
    <main>
      ${card("Advice", html`<p>${figures.advice.sentence}</p>`)}
      <div class="pair">
        ${card("The gap recovered, hardest prompts first", gainPlot(figures), gain)}
        ${card("Quality against cost", costPlot(figures), cost)}
      </div>
      ${sectionsOf(figures).map(({ title: name, head, rows, notice }) => card(name, table(head, rows), notice))}
    </main>`;
  return page({ title, style, body });
}

/** Returns a card with a notice below its content. */
function card(title: string, content: Html, notice: string | null = null): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    ${content} ${notice && html`<p class="notice">${notice}</p>`}
  </section>`;
}

/** Returns the tables of both forms, without empty ones. */
function sectionsOf({ confusion, ways, orders, categories, costBasis, ...shares }: RoutingFigures) {
  const { right, over, under } = shares;
  const sections = [
    {
      title: "Right tier by row, used tier by column",
      head: ["right tier", ...tierNames],
      rows: (confusion ?? []).map((counts, at) => [tierNames[at] ?? "", counts].flat().map(String)),
      notice: `Right ${percent(right)}, too high ${percent(over)}, too low ${percent(under)}`,
    },
    {
      title: "Beside simpler ways",
      head: ["way", "quality", "cost"],
      rows: ways.map(({ name, quality, cost }) => [name, figure(quality), figure(cost)]),
      notice: `Cost a prompt: ${costBasis}.`,
    },
    {
      title: "By category",
      head: ["category", "prompts", "as routed", "the cheapest", "frontier", "cost"],
      rows: categories.map(({ name, n, ways: all }) => [
        toPrintable(name),
        String(n),
        ...all.map(({ quality }) => figure(quality)),
        figure(all[0]?.cost ?? null),
      ]),
      notice: "Quality of each way, and the cost as routed.",
    },
    {
      title: "Value of the order",
      head: ["order by", "APGR"],
      rows: orders.map(({ name, apgr }) => [name, figure(apgr)]),
      notice:
        "APGR: the mean gap recovered over all shares. In brackets: 95 % of draws with replacement, and Wilson's intervals for shares.",
    },
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}

function describeSource({ n, name, decider, asked }: RoutingFigures): string {
  const stand = decider.isEmulated === true ? ": these figures describe no model" : "";
  const cost = `$${asked.costUsd.toFixed(6)}`;
  return `${n} prompts of ${name}. Decided by ${describeDecider(decider)}${stand}. Asked now: ${asked.paid} (${cost}); kept from before: ${asked.kept}.`;
}

/** Returns the figures as lines for a terminal. */
export function describeFigures(figures: RoutingFigures): string {
  const { advice, decider } = figures;
  const tables = sectionsOf(figures).flatMap(({ title, head, rows, notice }) => {
    const lines = [head, ...rows];
    const widths = head.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
    const print = (cells: readonly string[]) =>
      cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
    return [title, lines.map((cells) => `  ${print(cells)}`.trimEnd()), notice, ""].flat();
  });
  const emulated = decider.isEmulated === true ? " The emulator decided, not a model." : "";
  return [describeSource(figures), "", ...tables, `${advice.sentence}${emulated}\n`].join("\n");
}
