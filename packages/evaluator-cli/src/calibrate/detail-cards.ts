import { html, type Html } from "evaluator-kit/page";
import { table } from "../report/page-parts.ts";
import type { CalibrationReport } from "./calibration-report.ts";
import { count, percent } from "../report/sentences.ts";

type Reported = CalibrationReport["reports"][number];

/** Returns the groups of a question. */
export function groupCard({ groups }: Reported): Html {
  const rows = groups.map(({ group, n, brier, skill, difference, pValue, promised }) => {
    const judged =
      pValue === null
        ? "too few"
        : pValue < 0.05
          ? `✗ ${pValue.toFixed(3)}`
          : `✓ ${pValue.toFixed(2)}`;
    return [
      group,
      count(n),
      brier.toFixed(3),
      skill === null ? "–" : percent(skill),
      `${signed(difference.value)} (${signed(difference.low)} to ${signed(difference.high)})`,
      judged,
      promised.map(({ action, threshold }) => `${action} ≥ ${threshold.toFixed(2)}`).join(", ") ||
        "–",
    ];
  });
  const head = ["group", "n", "Brier", "skill", "came true − printed", "p (Holm)", "promise"];
  return html`<div class="card">
    <h3>Groups</h3>
    ${table(head, rows, 1)}
  </div>`;
}

function signed(share: number): string {
  return `${share < 0 ? "−" : "+"}${Math.round(100 * Math.abs(share))} %`;
}

/** Returns the result of recalibrating; null without one. */
export function recalibrationCard({ recalibration }: Reported): Html | null {
  const { heldOut, note, recalibration: found } = recalibration;
  if (heldOut === null && note === null) return null;
  const gain =
    found === null || heldOut === null
      ? null
      : html`<p>
          A ${found.kind} fit lowers the log loss on rows it had not seen from
          ${heldOut.before.toFixed(4)} to ${heldOut.after.toFixed(4)}.
        </p>`;
  return html`<div class="card">
    <h3>Recalibrating</h3>
    ${gain}${note === null ? null : html`<p>${note}</p>`}
  </div>`;
}

/** Returns how many more labels are needed. */
export function neededCard(
  { needed, n }: Reported,
  { maxRisk, confidence }: CalibrationReport,
): Html {
  const risk = `${Number((100 * maxRisk).toFixed(4))} %`;
  const more = Math.max(0, needed.forFivePoints - n);
  return html`<div class="card">
    <h3>How many more labels?</h3>
    <ul>
      <li>
        Accuracy to ±5 points takes ${count(needed.forFivePoints)} labels:
        ${more === 0 ? "you have them" : `${count(more)} more`}.
      </li>
      <li>
        A promise of ${risk} with ${percent(confidence)} confidence takes
        ${count(needed.forPromiseWithoutErrors)} acted-on labels without one error;
        ${count(needed.forPromise)} give an 80 % chance of it where
        ${Number((40 * maxRisk).toFixed(4))} % are wrong.
      </li>
    </ul>
  </div>`;
}

/** Returns the rows with the largest errors; null without any. */
export function worstCard({ worst }: Reported, { texts }: CalibrationReport): Html | null {
  if (worst.length === 0) return null;
  const rows = worst.map(({ id, truth, answer, probability }) => {
    const text = texts !== null && Object.hasOwn(texts, id) ? (texts[id] ?? null) : null;
    const shown =
      text === null ? null : html`<br /><span class="quiet">${text.slice(0, 160)}</span>`;
    return html`<li>
      <b>${id}</b>: is “${truth}”, printed ${probability.toFixed(2)}; answered “${answer}”${shown}
    </li>`;
  });
  return html`<div class="card" style="margin-top:0.5rem">
    <h3>Farthest off</h3>
    <ul class="worst">
      ${rows}
    </ul>
  </div>`;
}
