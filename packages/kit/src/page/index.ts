export { html, type Html, type HtmlValue, trusted } from "./html.ts";
export {
  band,
  barList,
  bars,
  cells,
  curve,
  dot,
  name,
  type Point,
  points,
  table,
} from "./marks.ts";
export { page, pageAround, type PageParts, reportStyle } from "./page.ts";
export { type Axis, plot, type PlotOptions, type Scales } from "./plot.ts";
