import { html, type Html } from "evaluator-kit/page";

/** The look of the pages of calibrate and compare, beside that of every report: a question of the first fits on one sheet of A4. */
export const pageStyle = `
h1 { font-size: 1.15rem; letter-spacing: -0.01em; }
h2 { font-size: 1.35rem; line-height: 1.3; font-weight: 650; letter-spacing: -0.015em; margin: 0.35rem 0 0.5rem; text-wrap: balance; }
h2 code { font-size: 0.95em; }
h3 { font-size: 0.95rem; margin-bottom: 0.4rem; }
.quiet, figcaption { color: var(--quiet); font-size: 0.87rem; }
.notice { margin: 0.5rem 0; padding: 0.4rem 0.75rem; border-left: 4px solid var(--warn); background: var(--warn-back); font-size: 0.9rem; }
.join { margin: 0.5rem 0 0; padding-left: 1.1rem; font-size: 0.87rem; color: var(--quiet); }
.question { margin-top: 2rem; }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 0.75rem; margin: 0.9rem 0; }
.tiles div { padding: 0.6rem 0.85rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
.tiles dt { color: var(--quiet); font-size: 0.8rem; }
.tiles dd { font-size: 1.3rem; font-weight: 650; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.tiles dd small { display: block; color: var(--quiet); font-size: 0.78rem; font-weight: 400; line-height: 1.35; }
.columns { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.75rem; align-items: start; }
.card { padding: 0.75rem 0.95rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); min-width: 0; }
.stack { display: grid; gap: 0.75rem; min-width: 0; }
.card ul { margin: 0; padding-left: 1.1rem; }
.card li + li { margin-top: 0.3rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--quiet); font-weight: 500; white-space: nowrap; }
td, th { padding: 0.16rem 0.7rem 0.16rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
.number { text-align: right; white-space: nowrap; }
.card .worst { columns: 2; column-gap: 1.5rem; margin: 0; padding: 0; list-style: none; font-size: 0.85rem; }
.worst li { break-inside: avoid; margin: 0 0 0.15rem; overflow-wrap: anywhere; }
footer { margin-top: 1.5rem; color: var(--quiet); font-size: 0.8rem; overflow-wrap: anywhere; }
@media (max-width: 46rem) {
  body { padding: 1.25rem 0.8rem 2rem; }
  h2 { font-size: 1.15rem; }
  svg text { font-size: 13px; }
  .tiles { grid-template-columns: repeat(2, 1fr); gap: 0.5rem; }
  .columns { grid-template-columns: minmax(0, 1fr); }
  .card .worst { columns: 1; }
}
@page { size: A4; margin: 9mm; }
@media print {
  html { font-size: 10.5px; }
  body { padding: 0; max-width: none; font-size: 9.5px; line-height: 1.35; }
  h1 { font-size: 11px; } h2 { font-size: 15px; margin: 2px 0 4px; } h3 { font-size: 10.5px; margin-bottom: 2px; }
  .question { margin-top: 0; }
  .question + .question { break-before: page; }
  .question.small + .question.small { break-before: auto; margin-top: 10px; }
  .tiles { grid-template-columns: repeat(4, 1fr); gap: 5px; margin: 5px 0; }
  .tiles div, .card { padding: 4px 7px; border-radius: 5px; }
  .tiles dd { font-size: 13px; }
  .columns { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 5px; }
  .stack { gap: 5px; }
  .notice { margin: 3px 0; padding: 2px 6px; }
  .card .worst { columns: 2; }
  .card, .tiles, tr { break-inside: avoid; }
  footer { margin-top: 6px; font-size: 8px; }
  td, th { padding-block: 0.5px; }
}
`;

/**
 * Returns a table of the pages of calibrate and compare.
 *
 * @param numbers - The index of the first column of numbers; all after it are numbers as well.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | Html)[])[],
  numbers: number,
): Html {
  const classOf = (at: number) => (at < numbers ? "" : "number");
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head.map((name, at) => html`<th class="${classOf(at)}">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, at) => html`<td class="${classOf(at)}">${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
