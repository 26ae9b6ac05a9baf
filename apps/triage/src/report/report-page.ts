import { toPrintable } from "evaluator-cli-kit";
import { html, type Html, page } from "evaluator-page-kit";
import { printCount, printDuration, printMails, printUsd } from "../amounts.ts";
import type { RunFacts } from "../journal/run-facts.ts";
import type { TriageRecord } from "../output/write-records.ts";
import { isEmulator } from "../service.ts";
import { choicePlot, probabilityPlot, scorePlot, sendersPlot, timePlot } from "./plots.ts";
import { reportStyle } from "./report-style.ts";
import {
  fieldTitle,
  findFields,
  findUncertain,
  type ResultFields,
  type UncertainMail,
  uncertaintyRule,
} from "./result-fields.ts";

/** Returns one page about results: all in one file, and nothing that a browser would fetch or run. */
export function reportPage(records: readonly TriageRecord[], runs: readonly RunFacts[]): string {
  const fields = findFields(records);
  const title = `Triage of ${printMails(records.length)}`;
  const body = html`<h1>${title}</h1>
    ${runFactsList(records, runs)}
    <main>${records.length === 0 ? html`<p>No mails.</p>` : figures(records, fields)}</main>
    <h2>To review</h2>
    <p>${uncertaintyRule}</p>
    ${reviewList(findUncertain(records, fields))}`;
  return page({ title, style: reportStyle, body });
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

function figure(title: string, about: string, plot: Html) {
  return html`<figure>
    <figcaption>${fieldTitle(title)}<small>${about}</small></figcaption>
    ${plot}
  </figure>`;
}

/** Shows how many mails there are, and what all runs over them came to. */
function runFactsList(records: readonly TriageRecord[], runs: readonly RunFacts[]) {
  const sum = (fact: "inputTokens" | "elapsedMs" | "answered") =>
    runs.reduce((total, run) => total + run[fact], 0);
  const failed = records.filter((record) => typeof record["error"] === "string").length;
  const facts = [
    ["Mails", printCount(records.length)],
    ["Without answer", printCount(failed)],
    ["Calls", printCount(sum("answered"))],
    ["Input tokens", printCount(sum("inputTokens"))],
    ["Cost", costOf(runs)],
    ["Time asking", printDuration(sum("elapsedMs"))],
  ];
  return html`<dl>
    ${facts.map(([name = "", value = ""]) => fact(name, value))}
    ${fact("Asked", askedOf(runs.at(-1)), "wide")}
    ${fact("Probabilities", calibrationOf(runs.at(-1)), "wide")}
  </dl>`;
}

// Where nobody says what an engine costs, the sum is of the other runs.
function costOf(runs: readonly RunFacts[]): string {
  const usd = runs.reduce((total, { costUsd }) => total + costUsd, 0);
  if (!runs.some(({ isUnpriced }) => isUnpriced)) return printUsd(usd);
  return usd === 0 ? "no known price" : `${printUsd(usd)} and what has no known price`;
}

function fact(name: string, value: string, className = "") {
  return html`<div class="${className}">
    <dt>${name}</dt>
    <dd>${toPrintable(value)}</dd>
  </div>`;
}

function askedOf(last: RunFacts | undefined): string {
  if (last === undefined) return "unknown: there is no journal beside the results";
  const day = last.finishedAt.slice(0, 16).replace("T", " ");
  const what = isEmulator(last.wire) ? " (recordings or matching words, not a model)" : "";
  return `${last.modelId} through ${last.wire}${what}; last run ${day} UTC`;
}

function calibrationOf(last: RunFacts | undefined): string {
  if (last?.calibration === undefined) {
    return "as the engine gave them; nobody has checked here whether they hold (triage label, evaluator calibrate)";
  }
  const { model, fittedOn } = last.calibration;
  const labels = `${printCount(fittedOn.n)} labels`;
  return `calibrated on ${labels} for ${model.id ?? "a model without a name"}; fields that end in "printed" are as they came`;
}

/** Shows the mails that a person should look at. */
function reviewList(mails: readonly UncertainMail[]) {
  if (mails.length === 0) return html`<p>Nothing uncertain.</p>`;
  return html`<div class="review">
    <table>
      <thead>
        <tr>
          <th>Why</th>
          <th>Date</th>
          <th>From</th>
          <th>Subject</th>
        </tr>
      </thead>
      <tbody>
        ${mails.map(reviewRow)}
      </tbody>
    </table>
  </div>`;
}

function reviewRow({ record, reasons }: UncertainMail) {
  return html`<tr>
    <td>${reasons.map((reason) => html`<span class="why">${toPrintable(reason)}</span>`)}</td>
    <td>${toPrintable(record.date)}</td>
    <td>${toPrintable(record.from)}</td>
    <td>${toPrintable(record.subject)}</td>
  </tr>`;
}
