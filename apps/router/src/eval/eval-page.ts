import { curve, html, type Html, name, page, plot, table } from "evaluator-kit/page";
import { type Decider, describeDecider } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import { pageStyle } from "../report/decisions-page.ts";
import { figure, percent } from "./estimates.ts";
import type { RoutingFigures } from "./evaluate-routing.ts";

const style = `${pageStyle}
.pair { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.warning { margin-top: 0.75rem; padding: 0.5rem 0.75rem; background: var(--warn-back); color: var(--warn); border-radius: 8px; }
`;

/** Returns the figures as a page without scripts. */
export function evalPage(figures: RoutingFigures, source: EvalSource): string {
  const title = "Is the routing any good?";
  const body = html`<h1>${title}</h1>
    <p class="notice">${figures.n} prompts of ${source.name}. ${describeSource(source)}</p>
    ${source.decider.isEmulated === true ? html`<p class="warning">The emulator decided, not a model.</p>` : null}
    <main>
      <section class="card">
        <h2>Advice</h2>
        <p>${figures.advice.sentence}</p>
      </section>
      ${curveCards(figures, source)} ${confusionCard(figures)} ${waysCard(figures)}
      ${ordersCard(figures)}
    </main>`;
  return page({ title, style, body });
}

function curveCards(figures: RoutingFigures, { costBasis }: EvalSource): Html {
  return html`<div class="pair">
    <section class="card">
      <h2>The gap recovered, hardest prompts first</h2>
      ${gainPlot(figures)}
      <p class="notice">
        Across: the share of prompts that frontier answers, the others go to the cheapest tier. Up:
        the recovered part of the quality between the two.
      </p>
    </section>
    <section class="card">
      <h2>Quality against cost</h2>
      ${costPlot(figures)}
      <p class="notice">Cost a prompt: ${costBasis}.</p>
    </section>
  </div>`;
}

function confusionCard({ confusion, right, over, under }: RoutingFigures): Html {
  return html`<section class="card">
    <h2>Right tier by row, used tier by column</h2>
    ${table(
      ["right tier", ...tierNames],
      tierNames.map((tier, at) => toRow(tier, confusion[at] ?? [])),
    )}
    <p class="notice">
      Right ${percent(right)}; too high ${percent(over)}; too low ${percent(under)}.
    </p>
  </section>`;
}

function toRow(name: string, counts: readonly number[]): string[] {
  return [name, ...counts.map(String)];
}

function waysCard({ ways }: RoutingFigures): Html {
  return html`<section class="card">
    <h2>Beside simpler ways</h2>
    ${table(
      ["way", "quality", "cost"],
      ways.map((way) => [way.name, figure(way.quality), figure(way.cost)]),
    )}
  </section>`;
}

function ordersCard(figures: RoutingFigures): Html {
  return html`<section class="card">
    <h2>Value of the order</h2>
    ${table(
      ["order by", "APGR", "CPT(50%)", "CPT(80%)"],
      figures.orders.map(({ name, apgr, cpt50, cpt80 }) => [
        name,
        figure(apgr),
        figure(cpt50),
        figure(cpt80),
      ]),
    )}
    <p class="notice">
      APGR: the mean gap recovered over all shares. CPT: the least share of frontier calls that
      recovers half, or four fifths. In brackets: 95 % of draws with replacement, and Wilson's
      intervals for shares.
    </p>
  </section>`;
}

// One name is below its curve and the other above it, so that they do not overlap.
const looks = [
  { curve: "curve", at: 0.58, beside: { dy: 16 } },
  { curve: "guide", at: null, beside: {} },
  { curve: "curve dashed", at: 0.5, beside: { anchor: "end", dx: -6 } },
] as const;

function share(value: number): string {
  return `${Math.round(100 * value)}%`;
}

function gainPlot({ orders }: RoutingFigures) {
  const axes = {
    title: "Gap recovered by the share of frontier calls",
    x: { domain: [0, 1] as const, label: "frontier calls", format: share },
    y: { domain: [0, 1] as const, label: "gap recovered", format: share },
  };
  return plot(axes, (scales) =>
    orders.map((order, index) => {
      const look = looks[index] ?? looks[1];
      const points = order.points.map(({ share: x, recovered: y }) => ({ x, y }));
      const named = look.at === null ? undefined : points[Math.floor(points.length * look.at)];
      const label = named && name(order.name, { ...named, ...look.beside }, scales);
      return html`${curve(points, scales, look.curve)}${label ?? null}`;
    }),
  );
}

/** Pixels between names, from the top down. */
const NAME_HEIGHT = 14;

function costPlot({ ways }: RoutingFigures) {
  const points = ways
    .map(({ name, cost, quality }) => ({ name, x: cost.value, y: quality.value }))
    .toSorted((one, other) => other.y - one.y);
  const most = Math.max(...points.map(({ x }) => x)) || 1;
  const axes = {
    title: "Quality against cost a prompt",
    x: { domain: [0, most * 1.05] as const, label: "cost a prompt", ticks: 4 },
    y: { domain: [0, 1.05] as const, label: "quality" },
  };
  return plot(axes, (scales) => {
    let above = Number.NEGATIVE_INFINITY;
    return points.map((point) => {
      const y = scales.y(point.y);
      above = Math.max(y - 6, above + NAME_HEIGHT);
      const side = point.x > most / 2 ? ({ anchor: "end", dx: -6 } as const) : {};
      return html`<circle class="point" cx="${scales.x(point.x)}" cy="${y}" r="3.5" />
        ${name(point.name, { ...point, ...side, dy: above - y }, scales)}`;
    });
  });
}

/** The source of the figures. */
export interface EvalSource {
  readonly name: string;
  readonly decider: Decider;
  readonly context: string;
  readonly costBasis: string;
  readonly asked: { readonly paid: number; readonly costUsd: number; readonly kept: number };
}

/** Describes the decisions and their costs in a sentence. */
function describeSource({ decider, context, asked }: EvalSource): string {
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
