import { html } from "hono/html";
import type { RunFacts } from "../journal/run-facts.ts";
import { printCount, printDuration, printUsd } from "../money/print-amounts.ts";
import type { TriageRecord } from "../output/triage-record.ts";
import { plainText } from "../text/plain-text.ts";

/** Shows how many mails there are, and what all runs over them came to. */
export function runFactsList(records: readonly TriageRecord[], runs: readonly RunFacts[]) {
  const sum = (fact: "costUsd" | "inputTokens" | "elapsedMs" | "answered") =>
    runs.reduce((total, run) => total + run[fact], 0);
  const failed = records.filter((record) => typeof record["error"] === "string").length;
  const facts = [
    ["Mails", printCount(records.length)],
    ["Without answer", printCount(failed)],
    ["Calls", printCount(sum("answered"))],
    ["Input tokens", printCount(sum("inputTokens"))],
    ["Cost", printUsd(sum("costUsd"))],
    ["Time asking", printDuration(sum("elapsedMs"))],
  ];
  return html`<dl>
    ${facts.map(([name = "", value = ""]) => fact(name, value))}
    ${fact("Asked", askedOf(runs.at(-1)), "wide")}
  </dl>`;
}

function fact(name: string, value: string, className = "") {
  return html`<div class="${className}">
    <dt>${name}</dt>
    <dd>${plainText(value)}</dd>
  </div>`;
}

function askedOf(last: RunFacts | undefined): string {
  if (last === undefined) return "unknown: there is no journal beside the results";
  const day = last.finishedAt.slice(0, 16).replace("T", " ");
  return `${last.modelId} through ${last.wire}; last run ${day} UTC`;
}
