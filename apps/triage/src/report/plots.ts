import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { senderAddress } from "../input/sender-address.ts";
import type { TriageRecord } from "../output/triage-record.ts";
import { cutGraphemes } from "../text/cut-graphemes.ts";
import { plainText } from "../text/plain-text.ts";

const SENDERS = 15;
const { document } = parseHTML("<!doctype html><html><body></body></html>");
const look = { document, width: 620, height: 240, marginLeft: 48 };
const colour = "#3b6fb6";

/** Draws how many mails have which mean level. */
export function scorePlot(records: readonly TriageRecord[], field: string): string {
  return histogram(records, field, { step: 0.1, label: field });
}

/** Draws how many mails have which probability. */
export function probabilityPlot(records: readonly TriageRecord[], field: string): string {
  return histogram(records, field, { step: 0.05, label: field, domain: [0, 1] });
}

/** Draws how many mails have which option. */
export function choicePlot(records: readonly TriageRecord[], field: string): string {
  const names = records.map((record) => record[field]).filter((name) => typeof name === "string");
  return countsPlot(names.map((name) => cutGraphemes(plainText(name), 24)));
}

/** Draws who sent the most mails. */
export function sendersPlot(records: readonly TriageRecord[]): string {
  return countsPlot(
    records.map(({ from }) =>
      cutGraphemes(plainText(senderAddress(from) ?? from) || "no sender", 30),
    ),
  );
}

/** Draws the mean level of each mail over its day. */
export function timePlot(records: readonly TriageRecord[], field: string): string {
  const shape = { r: 2.5, fill: colour, fillOpacity: 0.5 };
  const dots = Plot.dot(numbers(records, field), { x: toDay, y: field, ...shape });
  return draw({ ...look, x: { label: "day", type: "utc" }, y: { label: field }, marks: [dots] });
}

function toDay({ date }: TriageRecord): Date {
  return new Date(date);
}

function histogram(
  records: readonly TriageRecord[],
  field: string,
  { step, ...x }: { step: number; label: string; domain?: number[] },
): string {
  const options = { x: field, interval: step, fill: colour };
  const bars = Plot.rectY(numbers(records, field), Plot.binX({ y: "count" }, options));
  return draw({ ...look, x, y: { label: "mails" }, marks: [bars, Plot.ruleY([0])] });
}

function countsPlot(names: readonly string[]): string {
  const counts = Object.entries(Object.groupBy(names, (name) => name))
    .map(([name, same = []]) => ({ name, count: same.length }))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, SENDERS);
  const bars = Plot.barX(counts, { x: "count", y: "name", fill: colour, sort: { y: "-x" } });
  const height = 50 + 22 * counts.length;
  const axes = { x: { label: "mails" }, y: { label: null } };
  return draw({ ...look, ...axes, height, marginLeft: 220, marks: [bars, Plot.ruleX([0])] });
}

function numbers(records: readonly TriageRecord[], field: string): TriageRecord[] {
  return records.filter((record) => typeof record[field] === "number");
}

function draw(options: Plot.PlotOptions): string {
  return Plot.plot(options).outerHTML;
}
