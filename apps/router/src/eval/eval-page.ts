import { curve, html, name, page, plot, table } from "evaluator-kit/page";
import { type Decider, describeDecider } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import { card, pageStyle } from "../report/decisions-page.ts";
import { figure, percent } from "./figures.ts";
import type { evaluateRouting } from "./evaluate-routing.ts";

const style = `${pageStyle}
.pair { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
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
  const { right, over, under, costBasis } = figures;
  const { confusion, ways, orders } = tablesOf(figures);
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
        ${card("Quality against cost", costPlot(figures), `Cost a prompt: ${costBasis}.`)}
      </div>
      ${card(
        "Right tier by row, used tier by column",
        table(["right tier", ...tierNames], confusion),
        `Right ${percent(right)}; too high ${percent(over)}; too low ${percent(under)}.`,
      )}
      ${card("Beside simpler ways", table(["way", "quality", "cost"], ways))}
      ${card(
        "Value of the order",
        table(["order by", ...orderFigures], orders),
        "APGR: the mean gap recovered over all shares. CPT: the least share of frontier calls that recovers half, or four fifths. In brackets: 95 % of draws with replacement, and Wilson's intervals for shares.",
      )}
    </main>`;
  return page({ title, style, body });
}

const orderFigures = ["APGR", "CPT(50%)", "CPT(80%)"];

function tablesOf({ confusion, ways, orders }: RoutingFigures) {
  return {
    confusion: tierNames.map((tier, at) => [tier, ...(confusion[at] ?? []).map(String)]),
    ways: ways.map(({ name, quality, cost }) => [name, figure(quality), figure(cost)]),
    orders: orders.map(({ name, apgr, cpt50, cpt80 }) => [
      name,
      ...[apgr, cpt50, cpt80].map(figure),
    ]),
  };
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

function describeSource({ n, name, decider, asked }: RoutingFigures): string {
  const stand = decider.isEmulated === true ? ": these figures describe no model" : "";
  const cost = `$${asked.costUsd.toFixed(6)}`;
  return `${n} prompts of ${name}. Decided by ${describeDecider(decider)}${stand}. Asked now: ${asked.paid} (${cost}); kept from before: ${asked.kept}.`;
}

/** Returns the figures as lines for a terminal. */
export function describeFigures(figures: RoutingFigures): string {
  const { right, over, under, advice, costBasis, decider } = figures;
  const { confusion, ways, orders } = tablesOf(figures);
  const lines = [
    describeSource(figures),
    "",
    "Right tier by row, used tier by column",
    ...[["", ...tierNames], ...confusion].map((cells) => row(cells, 12)),
    "",
    `Right ${percent(right)}, too high ${percent(over)}, too low ${percent(under)}`,
    "",
    `Quality and cost a prompt (cost: ${costBasis})`,
    ...ways.map((cells) => row(cells, 32)),
    "",
    "Hardest prompts first to frontier, the others to the cheapest: gap recovered",
    ...[["", ...orderFigures], ...orders].map((cells) => row(cells, 32)),
    "",
    advice.sentence + (decider.isEmulated === true ? " The emulator decided, not a model." : ""),
  ];
  return `${lines.join("\n")}\n`;
}

function row([first = "", ...cells]: readonly string[], width: number): string {
  const others = cells.map((cell) => cell.padEnd(Math.min(width, 28))).join("");
  return `  ${first.padEnd(width)}${others}`.trimEnd();
}
