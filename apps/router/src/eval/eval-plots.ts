import { curve, html, type Html, plot } from "evaluator-kit/page";
import type { evaluateRouting } from "./evaluate-routing.ts";

type Figures = ReturnType<typeof evaluateRouting>;

const looks = ["curve", "guide", "curve dashed", "limit"] as const;

/** Draws the recovered gap by the share of frontier calls, a curve for each order. */
export function gainPlot({ orders }: Figures): Html {
  const axes = {
    title: "The gap recovered, hardest prompts first",
    about:
      "Across: the share of prompts that frontier answers, the others go to the cheapest tier. Up: the recovered part of the quality between the two.",
    x: { domain: [0, 1] as const, label: "frontier calls", format: share },
    y: { domain: [0, 1] as const, label: "gap recovered", format: share },
    keys: orders.map(({ name }, at) => [looks[at] ?? "guide", name] as const),
    head: ["order by", "frontier calls", "gap recovered"],
    rows: orders.flatMap(({ name, points }) =>
      points.map((point) => [name, share(point.share), share(point.recovered)]),
    ),
  };
  return plot(axes, (scales) =>
    orders.map((order, at) => {
      const points = order.points.map(({ share: x, recovered: y }) => ({ x, y }));
      return curve(points, scales, { look: looks[at] ?? "guide", title: order.name });
    }),
  );
}

function share(value: number): string {
  return `${Math.round(100 * value)}%`;
}

/** Pixels between names, and the lowest place of one. */
const [NAME_HEIGHT, LOWEST_NAME] = [16, 226];
/** Pixels for the names beside the plot, so that no line crosses them. */
const ROOM = 140;

/** Draws the ways by cost and quality; a way that another one dominates is grey. */
export function costPlot({ ways }: Figures): Html {
  const points = ways
    .map((way) => ({ name: way.name, x: way.cost.value, y: way.quality.value }))
    .toSorted((one, other) => other.y - one.y);
  const x = domainOf(points.map((point) => point.x));
  const axes = {
    title: "Quality against cost",
    about: "Of a prompt. Grey: another way is as good and costs no more.",
    x: { domain: x, label: "cost a prompt", ticks: 3 },
    y: { domain: domainOf(points.map((point) => point.y)), label: "quality" },
    room: ROOM,
    head: ["way", "quality", "cost"],
    rows: points.map((point) => [point.name, point.y.toFixed(3), point.x.toPrecision(3)]),
  };
  return plot(axes, (scales) => {
    const places = spread(points.map((point) => scales.y(point.y)));
    const end = scales.x(x[1]) + 10;
    return points.map((point, at) => {
      const [left, top, place] = [scales.x(point.x), scales.y(point.y), places[at] ?? 0];
      const title = `${point.name}: quality ${point.y.toFixed(3)}, cost ${point.x.toPrecision(3)}`;
      return html`<g
        class="${points.some((other) => dominates(other, point)) ? "dominated" : "best"}"
      >
        <line class="axis" x1="${left}" y1="${top}" x2="${end}" y2="${place}" />
        <circle class="mark point" cx="${left}" cy="${top}" r="4.5"><title>${title}</title></circle>
        <text class="name" x="${end + 4}" y="${place + 4}">${point.name}</text>
      </g>`;
    });
  });
}

/** Returns the range of values with a margin. */
function domainOf(values: readonly number[]): readonly [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = 0.06 * (most - least || Math.abs(most) || 1);
  return [least - margin, most + margin];
}

/** Moves heights, the topmost first, apart. */
function spread(heights: readonly number[]): number[] {
  let above = Number.NEGATIVE_INFINITY;
  const down = heights.map((height) => (above = Math.max(height, above + NAME_HEIGHT)));
  let below = LOWEST_NAME + NAME_HEIGHT;
  return down
    .toReversed()
    .map((height) => (below = Math.min(height, below - NAME_HEIGHT)))
    .toReversed();
}

type WayPoint = Readonly<{ name: string; x: number; y: number }>;

/** Whether a way is as good and costs no more, and is better in one. No router has an oracle. */
function dominates({ name: way, x, y }: WayPoint, other: WayPoint): boolean {
  const isBetter = x < other.x || y > other.y;
  return way !== "oracle" && isBetter && x <= other.x && y >= other.y;
}
