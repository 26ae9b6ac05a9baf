import { curve, html, type Html, name, plot } from "evaluator-kit/page";
import type { evaluateRouting } from "./evaluate-routing.ts";

type Figures = ReturnType<typeof evaluateRouting>;

const looks = ["curve", "guide", "curve dashed", "limit"] as const;

/** Draws the recovered gap by the share of frontier calls, a curve for each order. */
export function gainPlot({ orders }: Figures): Html {
  const axes = {
    title: "Gap recovered by the share of frontier calls",
    x: { domain: [0, 1] as const, label: "frontier calls", format: share },
    y: { domain: [0, 1] as const, label: "gap recovered", format: share },
  };
  return plot(axes, (scales) =>
    orders.map((order, at) => {
      const look = looks[at] ?? "guide";
      const points = order.points.map(({ share: x, recovered: y }) => ({ x, y }));
      const y = 0.32 - 0.09 * at; // a legend below the diagonal, so that no names overlap
      const sample = [0.52, 0.59].map((x) => ({ x, y }));
      return html`${curve(points, scales, look)} ${curve(sample, scales, look)}
      ${name(order.name, { x: 0.59, y, dy: 4 }, scales)}`;
    }),
  );
}

function share(value: number): string {
  return `${Math.round(100 * value)}%`;
}

/** Pixels between names, and the lowest place of one. */
const [NAME_HEIGHT, LOWEST_NAME] = [15, 258];

/** Draws the ways by cost and quality; a way that another one dominates is grey. */
export function costPlot({ ways }: Figures): Html {
  const points = ways
    .map((way) => ({ name: way.name, x: way.cost.value, y: way.quality.value }))
    .toSorted((one, other) => other.y - one.y);
  const x = domainOf(points.map((point) => point.x));
  const axes = {
    title: "Quality against cost a prompt",
    x: { domain: x, label: "cost a prompt", ticks: 4 },
    y: { domain: domainOf(points.map((point) => point.y)), label: "quality" },
  };
  return plot(axes, (scales) => {
    const places = spread(points.map((point) => scales.y(point.y) - 6));
    return points.map((point, at) => {
      const [left, top] = [scales.x(point.x), scales.y(point.y)];
      const place = places[at] ?? top;
      const side = point.x > (x[0] + x[1]) / 2 ? ({ anchor: "end", dx: -8 } as const) : { dx: 8 };
      return html`<g
        class="${points.some((other) => dominates(other, point)) ? "dominated" : "best"}"
      >
        <circle class="point" cx="${left}" cy="${top}" r="3.5" />
        <line class="axis" x1="${left}" y1="${top}" x2="${left + side.dx}" y2="${place - 4}" />
        ${name(point.name, { ...point, ...side, dy: place - top }, scales)}
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
