import type { Interval } from "evaluator-calibration";
import { percent, percentRange, toPrintable } from "evaluator-kit";
import { curve, html, type Html, page, type PageLink, plot, table } from "evaluator-kit/page";
import { type Decider, describeDecider } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import { figure, ROUNDING } from "../labels/figures.ts";
import { TOOL } from "../page/load-page.ts";
import { textTable } from "../report/totals.ts";
import type { evaluateRouting } from "./evaluate-routing.ts";

type RoutingFigures = ReturnType<typeof evaluateRouting> & {
  readonly name: string;
  readonly decider: Decider;
  readonly costBasis: string;
  readonly asked: { readonly paid: number; readonly costUsd: number; readonly kept: number };
};

/** Returns the figures as a page without scripts, with links to other reports. */
export function evalPage(figures: RoutingFigures, pages: readonly PageLink[]): string {
  const sections = listSections(figures);
  const emulatedHtml = html`<p class="notice">The emulator decided, not a model.</p>`;
  return page({
    tool: TOOL,
    pages,
    heading: "Is the routing any good?",
    about: html`<p class="lead">${figures.advice.sentence}</p>
      <p class="about">${describeSource(figures)}</p>
      ${figures.decider.isEmulated === true ? emulatedHtml : null}`,
    contents: [
      { href: "#curves", name: "Gap and cost" },
      ...sections.map(({ title: name }, sectionIndex) => ({ href: `#part-${sectionIndex}`, name })),
    ],
    body: html`<section class="part" id="curves">
        <h2>Gap and cost</h2>
        <div class="columns">
          <div class="card">${gainPlot(figures)}</div>
          <div class="card">${costPlot(figures)}</div>
        </div>
      </section>
      ${sections.map(
        ({ title, head, rows, notice }, sectionIndex) =>
          html`<section class="part" id="part-${sectionIndex}">
            <h2>${title}</h2>
            ${table(title, head, rows)}
            <p class="quiet">${notice}</p>
          </section>`,
      )}`,
    styles: [new URL("eval.css", import.meta.url)],
  });
}

/** Returns the tables of both forms, without empty ones. */
function listSections({
  confusion,
  ways,
  orders,
  categories,
  costBasis,
  ...shares
}: RoutingFigures) {
  const { right, over, under } = shares;
  const sections = [
    {
      title: "Right tier by row, used tier by column",
      head: ["right tier", ...tierNames],
      rows: (confusion ?? []).map((counts, at) => [tierNames[at] ?? "", counts].flat().map(String)),
      notice: `Right ${withRange(right)}, too high ${withRange(over)}, too low ${withRange(under)}`,
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
      rows: categories.map(({ name, n, ways: wayFigures }) => [
        toPrintable(name),
        String(n),
        ...wayFigures.map(({ quality }) => figure(quality)),
        figure(wayFigures[0]?.cost ?? null),
      ]),
      notice: "Quality of each way, and the cost as routed.",
    },
    {
      title: "Value of the order",
      head: ["order by", "APGR"],
      rows: orders.map(({ name, apgr }) => [name, figure(apgr)]),
      notice:
        "APGR: the mean gap recovered over all shares. In brackets: 95 % of draws with replacement, and the exact intervals of shares (Clopper and Pearson).",
    },
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}

function withRange({ share, low, high }: Interval & { readonly share: number }): string {
  const estimate = { value: share, low, high };
  return `${percent(estimate, 1)} (${percentRange(estimate, 1)})`;
}

function describeSource({ n, name, decider, asked: askedTotals }: RoutingFigures): string {
  const promptCount = `${n.toLocaleString("en")} prompt${n === 1 ? "" : "s"}`;
  return `${promptCount} of ${name}. Decided by ${describeDecider(decider)}${decider.isEmulated === true ? ": these figures describe no model" : ""}. Asked now: ${askedTotals.paid} ($${askedTotals.costUsd.toFixed(6)}); kept from before: ${askedTotals.kept}.`;
}

/** Returns the figures as lines for a terminal. */
export function describeFigures(figures: RoutingFigures): string {
  const { advice, decider } = figures;
  const tables = listSections(figures).flatMap(({ title, head, rows, notice }) => {
    return [title, textTable([head, ...rows]), notice, ""];
  });
  const emulatedText = decider.isEmulated === true ? " The emulator decided, not a model." : "";
  return [describeSource(figures), "", ...tables, `${advice.sentence}${emulatedText}\n`].join("\n");
}

const curveLooks = ["curve", "guide", "curve dashed", "limit"] as const;

/** Draws the recovered gap by the share of frontier calls, a curve for each order. */
function gainPlot({ orders }: RoutingFigures): Html {
  const axes = {
    title: "The gap recovered, hardest prompts first",
    about:
      "Across: the share of prompts that frontier answers, the others go to the cheapest tier. Up: the recovered part of the quality between the two.",
    x: { domain: [0, 1] as const, label: "frontier calls", format: percent },
    y: { domain: [0, 1] as const, label: "gap recovered", format: percent },
    keys: orders.map(({ name }, orderIndex) => [curveLooks[orderIndex] ?? "guide", name] as const),
    head: ["order by", "frontier calls", "gap recovered"],
    rows: orders.flatMap(({ name, points }) =>
      points.map((point) => [name, percent(point.share), percent(point.recovered)]),
    ),
  };
  return plot(axes, (scales) =>
    orders.map((givenOrder, at) => {
      const points = givenOrder.points.map(({ share: x, recovered: y }) => ({ x, y }));
      return curve(points, scales, { look: curveLooks[at] ?? "guide", title: givenOrder.name });
    }),
  );
}

/** Pixels between names, and the lowest place of one. */
const [NAME_HEIGHT, LOWEST_NAME] = [16, 226];
/** Pixels for the names beside the plot, so that no line crosses them. */
const ROOM = 140;

/** Draws the ways by cost and quality; a way that another one dominates is grey. */
function costPlot({ ways }: RoutingFigures): Html {
  const points = ways
    .map((way) => ({ name: way.name, x: way.cost.value, y: way.quality.value }))
    .toSorted((firstPoint, secondPoint) => secondPoint.y - firstPoint.y);
  const x = toDomain(points.map((point) => point.x));
  const axes = {
    title: "Quality against cost",
    about: "Of a prompt. Grey: another way is as good and costs no more.",
    x: { domain: x, label: "cost a prompt", ticks: 3 },
    y: { domain: toDomain(points.map((point) => point.y)), label: "quality" },
    room: ROOM,
    head: ["way", "quality", "cost"],
    rows: points.map((point) => [point.name, point.y.toFixed(3), point.x.toPrecision(3)]),
  };
  return plot(axes, (scales) => {
    const labelHeights = spread(points.map((point) => scales.y(point.y)));
    const labelX = scales.x(x[1]) + 10;
    return points.map((point, at) => {
      const [leftX, pointY, labelY] = [scales.x(point.x), scales.y(point.y), labelHeights[at] ?? 0];
      const pointTitle = `${point.name}: quality ${point.y.toFixed(3)}, cost ${point.x.toPrecision(3)}`;
      return html`<g
        class="${points.some((otherPoint) => dominates(otherPoint, point)) ? "dominated" : "best"}"
      >
        <line class="axis" x1="${leftX}" y1="${pointY}" x2="${labelX}" y2="${labelY}" />
        <circle class="mark point" cx="${leftX}" cy="${pointY}" r="4.5"
          ><title>${pointTitle}</title></circle
        >
        <text class="name" x="${labelX + 4}" y="${labelY + 4}">${point.name}</text>
      </g>`;
    });
  });
}

function toDomain(axisValues: readonly number[]): readonly [number, number] {
  const [leastValue, greatestValue] = [Math.min(...axisValues), Math.max(...axisValues)];
  const margin = 0.06 * (greatestValue - leastValue || Math.abs(greatestValue) || 1);
  return [leastValue - margin, greatestValue + margin];
}

/** Moves heights, the topmost first, apart. */
function spread(labelHeights: readonly number[]): number[] {
  let above = Number.NEGATIVE_INFINITY;
  const pushedDown = labelHeights.map((height) => (above = Math.max(height, above + NAME_HEIGHT)));
  let heightBelow = LOWEST_NAME + NAME_HEIGHT;
  return pushedDown
    .toReversed()
    .map((labelHeight) => (heightBelow = Math.min(labelHeight, heightBelow - NAME_HEIGHT)))
    .toReversed();
}

type WayPoint = Readonly<{ name: string; x: number; y: number }>;

/** Whether a way is as good and costs no more, and is better in one. No router has an oracle. */
function dominates({ name: wayName, x, y }: WayPoint, otherPoint: WayPoint): boolean {
  const [savedCost, rounding] = [otherPoint.x - x, ROUNDING * otherPoint.x]; // of a mix at equal cost
  const isBetter = savedCost > rounding || y > otherPoint.y;
  return wayName !== "oracle" && isBetter && savedCost >= -rounding && y >= otherPoint.y;
}
