import { toPrintable } from "evaluator-kit";
import { html, page, type PageLink, table } from "evaluator-kit/page";
import { type Decider, describeDecider } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import { figure, percent } from "../labels/figures.ts";
import { TOOL } from "../page/load-page.ts";
import { costPlot, gainPlot } from "./eval-plots.ts";
import type { evaluateRouting } from "./evaluate-routing.ts";

type RoutingFigures = ReturnType<typeof evaluateRouting> & {
  readonly name: string;
  readonly decider: Decider;
  readonly costBasis: string;
  readonly asked: { readonly paid: number; readonly costUsd: number; readonly kept: number };
};

/** Returns the figures as a page without scripts, with links to other reports. */
export function evalPage(figures: RoutingFigures, pages: readonly PageLink[]): string {
  const sections = sectionsOf(figures);
  const emulated = html`<p class="notice">The emulator decided, not a model.</p>`;
  return page({
    tool: TOOL,
    pages,
    heading: "Is the routing any good?",
    about: html`<p class="lead">${figures.advice.sentence}</p>
      <p class="about">${describeSource(figures)}</p>
      ${figures.decider.isEmulated === true ? emulated : null}`,
    contents: [
      { href: "#curves", name: "Gap and cost" },
      ...sections.map(({ title: name }, at) => ({ href: `#part-${at}`, name })),
    ],
    body: html`<section class="part" id="curves">
        <h2>Gap and cost</h2>
        <div class="columns">
          <div class="card">${gainPlot(figures)}</div>
          <div class="card">${costPlot(figures)}</div>
        </div>
      </section>
      ${sections.map(
        ({ title, head, rows, notice }, at) =>
          html`<section class="part" id="part-${at}">
            <h2>${title}</h2>
            ${table(title, head, rows)}
            <p class="quiet">${notice}</p>
          </section>`,
      )}`,
    styles: [new URL("eval.css", import.meta.url)],
  });
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
