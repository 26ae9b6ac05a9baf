import { html, raw } from "hono/html";
import type { RunFacts } from "../journal/run-facts.ts";
import { printCount, printDuration, printUsd } from "../money/print-amounts.ts";
import type { TriageRecord } from "../output/triage-record.ts";
import { plainText } from "../text/plain-text.ts";
import { findFields } from "./find-fields.ts";
import { findUncertain, type UncertainMail } from "./find-uncertain.ts";
import { choicePlot, probabilityPlot, scorePlot, sendersPlot, timePlot } from "./plots.ts";
import { reportStyle } from "./report-style.ts";

/** Gives one page about results: all in one file, and nothing that a browser would fetch or run. */
export async function reportPage(
  records: readonly TriageRecord[],
  runs: readonly RunFacts[],
): Promise<string> {
  const fields = findFields(records);
  const plots = [
    ...fields.scores.map((field) => figure(field, scorePlot(records, field))),
    ...fields.choices.map((field) => figure(field, choicePlot(records, field))),
    ...fields.booleans.map((field) => figure(field, probabilityPlot(records, field))),
    ...fields.scores.map((field) => figure(`${field} over time`, timePlot(records, field))),
    figure("Top senders", sendersPlot(records)),
  ];
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <meta name="viewport" content="width=device-width" />
        <title>Triage of ${printCount(records.length)} mails</title>
        <style>
          ${raw(reportStyle)}
        </style>
      </head>
      <body>
        <h1>Triage of ${printCount(records.length)} mails</h1>
        ${factList(records, runs)}
        <main>${records.length === 0 ? html`<p>No mails.</p>` : plots}</main>
        <h2>To review</h2>
        ${reviewList(findUncertain(records, fields))}
      </body>
    </html> `;
  return String(await page);
}

function figure(title: string, svg: string) {
  return html`<figure>
    <figcaption>${plainText(title)}</figcaption>
    ${raw(svg)}
  </figure>`;
}

function factList(records: readonly TriageRecord[], runs: readonly RunFacts[]) {
  const sum = (fact: "costUsd" | "inputTokens" | "elapsedMs" | "answered") =>
    runs.reduce((total, run) => total + run[fact], 0);
  const last = runs.at(-1);
  const failed = records.filter((record) => typeof record["error"] === "string").length;
  const facts = [
    ["Mails", printCount(records.length)],
    ["Without answer", printCount(failed)],
    ...(last === undefined
      ? []
      : [
          ["Model", last.modelId],
          ["Asked through", last.wire],
        ]),
    ["Calls", printCount(sum("answered"))],
    ["Input tokens", printCount(sum("inputTokens"))],
    ["Cost", printUsd(sum("costUsd"))],
    ["Time asking", printDuration(sum("elapsedMs"))],
    ["Last run", last?.finishedAt ?? "unknown"],
  ];
  return html`<dl>
    ${facts.map(
      ([name = "", value = ""]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${plainText(value)}</dd>
        </div>`,
    )}
  </dl>`;
}

function reviewList(mails: readonly UncertainMail[]) {
  if (mails.length === 0) return html`<p>Nothing uncertain.</p>`;
  return html`<table>
    <thead>
      <tr>
        <th>Why</th>
        <th>Date</th>
        <th>From</th>
        <th>Subject</th>
      </tr>
    </thead>
    <tbody>
      ${mails.map(
        ({ record, reasons }) =>
          html`<tr>
            <td>${reasons.map((reason) => plainText(reason)).join(", ")}</td>
            <td>${plainText(record.date)}</td>
            <td>${plainText(record.from)}</td>
            <td>${plainText(record.subject)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
