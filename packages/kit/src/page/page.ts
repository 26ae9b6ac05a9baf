import { createHash } from "node:crypto";
import { html, type Html, type HtmlValue, trusted } from "./html.ts";

/** The style of every report: light or dark as the system, for any width and for paper. */
const reportStyle = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --text: #1c2430; --quiet: #5d6878; --line: #d9dee6;
  --accent: #2f6fc4; --band: #2f6fc433; --warn: #a8480b; --warn-back: #fdf0e4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1b212a; --text: #e6eaf0; --quiet: #9aa6b6; --line: #333d4a;
    --accent: #76adf6; --band: #76adf63d; --warn: #f2ab72; --warn-back: #37281b;
  }
}
@media print {
  :root {
    color-scheme: light;
    --page: #fff; --card: #fff; --text: #000; --quiet: #444; --line: #bbb;
    --accent: #1d4f95; --band: #1d4f9530; --warn: #8a3600; --warn-back: #fff;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 3rem; max-width: 70rem;
  font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
}
h1, h2, h3, p, figure, dl, dd { margin: 0; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--quiet); }
svg .axis { stroke: var(--line); stroke-width: 1; }
svg .curve { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
svg .dashed { stroke-dasharray: 5 4; }
svg .guide { fill: none; stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 2 3; }
svg .limit { fill: none; stroke: var(--warn); stroke-width: 1.5; stroke-dasharray: 8 3; }
svg .band { fill: var(--band); stroke: var(--accent); stroke-width: 0.5; stroke-dasharray: 1 2; }
svg .bar { fill: var(--accent); fill-opacity: 0.75; }
svg .dot { fill: var(--card); stroke: var(--accent); stroke-width: 1.5; }
svg .outside { fill: var(--warn); stroke: var(--warn); }
svg .point { fill: var(--accent); fill-opacity: 0.55; }
.bar-list { margin: 0; padding: 0; list-style: none; font-size: 0.85rem; }
.bar-list li { display: grid; grid-template-columns: minmax(0, 14em) minmax(0, 1fr) 4.5em; gap: 0.6em; align-items: center; padding: 0.14rem 0; }
.bar-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right; color: var(--quiet); }
.bar-length { display: block; height: 1.05em; min-width: 1px; border-radius: 2px; background: var(--accent); opacity: 0.75; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.bar-count { font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
.table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.table th, .table td { padding: 0.25rem 1rem 0.25rem 0; text-align: left; white-space: nowrap; }
.table thead th { color: var(--quiet); font-weight: 500; }
svg .name { fill: var(--text); font-weight: 600; }
`;

/** The parts of a page. */
interface PageParts {
  readonly title: string;
  /** Added to the common style. */
  readonly style: string;
  readonly body: Html;
  /** The one allowed script. @default none */
  readonly script?: string;
  /** Where its forms and its script may send; without a script it has none. @default "none" */
  readonly formsTo?: "none" | "self";
}

/** The end of a body; text from outside cannot contain it, because "<" is escaped. */
const END = "<!-- the end of the body -->";

/** Returns a page as one file that fetches nothing and runs only its script. */
export function page(parts: PageParts): string {
  return pageAround(parts).join("");
}

/** Returns the parts before and after a large body, such as data that is streamed. */
export function pageAround({
  title,
  style,
  body,
  script,
  formsTo = "none",
}: PageParts): readonly [before: string, after: string] {
  const runs =
    script === undefined
      ? ""
      : `; script-src '${sourceHash(script)}'; base-uri 'none'; form-action '${formsTo}'; connect-src '${formsTo}'`;
  const parts = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="${trusted(`default-src 'none'; style-src 'unsafe-inline'${runs}`)}"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${trusted(reportStyle + style)}
        </style>
      </head>
      <body>
        ${body}${trusted(END)}
      </body>
    </html> `;
  const [before = "", after = ""] = parts.toString().split(END);
  // In one piece: the hash covers all text between the tags.
  const element = script === undefined ? "" : `<script>${script}</script>`;
  return [before, element + after];
}

/** Returns the hash of a script or style for a page's policy, such as `sha256-…`. */
export function sourceHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Returns named counts as a list of bars; its text keeps the page's size on any width. */
export function barList(
  counts: readonly { readonly name: string; readonly count: number }[],
  format: (count: number) => string = String,
): Html {
  const most = Math.max(1, ...counts.map(({ count }) => count));
  const rows = counts.map(
    ({ name, count }) =>
      html`<li>
        <span class="bar-name">${name}</span
        ><span class="bar-track"
          ><span
            class="bar-length"
            style="width:${((100 * count) / most).toFixed(1)}%"
          ></span></span
        ><span class="bar-count">${format(count)}</span>
      </li>`,
  );
  return html`<ol class="bar-list">
    ${rows}
  </ol>`;
}

/** Returns a table: its head, then rows that begin with their name. With a name, it is a region. */
export function table(
  head: readonly string[],
  rows: readonly (readonly HtmlValue[])[],
  name?: string,
): Html {
  const region = name === undefined ? null : html` role="region" aria-label="${name}"`;
  const attributes = html`tabindex="0"${region}`;
  return html`<div class="scroll" ${attributes}>
    <table class="table">
      <thead>
        <tr>
          ${head.map((cell) => html`<th scope="col">${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name = "", ...cells]) =>
            html`<tr>
              <th scope="row">${name}</th>
              ${cells.map((cell) => html` <td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
