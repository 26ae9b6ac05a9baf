import { html, raw } from "hono/html";
import type { RunFacts } from "../journal/run-facts.ts";
import { printMails } from "../money/print-amounts.ts";
import type { TriageRecord } from "../output/triage-record.ts";
import { fieldTitle } from "./field-title.ts";
import { findFields, type ResultFields } from "./find-fields.ts";
import { findUncertain, uncertaintyRule } from "./find-uncertain.ts";
import { choicePlot, probabilityPlot, scorePlot, sendersPlot, timePlot } from "./plots.ts";
import { reportStyle } from "./report-style.ts";
import { reviewList } from "./review-list.ts";
import { runFactsList } from "./run-facts-list.ts";

/** Gives one page about results: all in one file, and nothing that a browser would fetch or run. */
export async function reportPage(
  records: readonly TriageRecord[],
  runs: readonly RunFacts[],
): Promise<string> {
  const fields = findFields(records);
  const title = `Triage of ${printMails(records.length)}`;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        <style>
          ${raw(reportStyle)}
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        ${runFactsList(records, runs)}
        <main>${records.length === 0 ? html`<p>No mails.</p>` : figures(records, fields)}</main>
        <h2>To review</h2>
        <p>${uncertaintyRule}</p>
        ${reviewList(findUncertain(records, fields))}
      </body>
    </html> `;
  return String(await page);
}

function figures(records: readonly TriageRecord[], fields: ResultFields) {
  const { scores, choices, booleans } = fields;
  return [
    ...scores.map((field) => figure(field, "mails by mean level", scorePlot(records, field))),
    ...choices.map((field) => figure(field, "mails by option picked", choicePlot(records, field))),
    ...booleans.map((field) =>
      figure(field, "mails by probability", probabilityPlot(records, field)),
    ),
    ...scores.map((field) =>
      figure(`${field} over time`, "mails by day", timePlot(records, field)),
    ),
    figure("Top senders", "mails by address", sendersPlot(records)),
  ];
}

function figure(title: string, about: string, svg: string) {
  return html`<figure>
    <figcaption>${fieldTitle(title)}<small>${about}</small></figcaption>
    ${raw(svg)}
  </figure>`;
}
