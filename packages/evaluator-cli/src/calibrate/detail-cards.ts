import { html, type Html } from "evaluator-kit/page";
import { table } from "../report/page-parts.ts";
import type { CalibrationReport } from "./calibration-report.ts";
import { count, percent } from "../report/sentences.ts";

type Reported = CalibrationReport["reports"][number];

/** Returns the groups of a question, what recalibrating gains, and how many labels are missing. */
export function detailCards(question: Reported, report: CalibrationReport): (Html | null)[] {
  const groups = question.groups.length === 0 ? null : groupCard(question);
  return [groups, recalibrationCard(question), neededCard(question, report)];
}

function groupCard({ groups }: Reported): Html {
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

function recalibrationCard({ recalibration }: Reported): Html | null {
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

function neededCard({ needed, n }: Reported, { maxRisk, confidence }: CalibrationReport): Html {
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
