import { count, percent } from "evaluator-calibration";
import { html, page } from "evaluator-page-kit";
import type { CalibrationReport } from "./calibration-report.ts";
import { nameSource } from "../sentences.ts";
import { pageStyle } from "../page-style.ts";
import { questionSection } from "./question-section.ts";

/** Returns the report as one page: each question on one sheet of A4, with nothing to fetch or run. */
export function reportPage(report: CalibrationReport): string {
  const { reports, notes, blankLabels, files, seed, confidence } = report;
  const sources = [...new Set(reports.map(({ source }) => nameSource(source)))];
  const body = html`<h1>Do the probabilities hold?</h1>
    ${notes.map((note) => html`<p class="notice">${note}</p>`)}
    ${blankLabels === 0 ? null : html`<p class="quiet">${count(blankLabels)} labels are not filled in yet.</p>`}
    <main>${reports.map((question) => questionSection(question, report))}</main>
    <footer>
      <p>
        How it was computed: labels ${files.labels.name} (SHA-256 ${files.labels.sha256}); answers
        ${files.answers.map(({ name, sha256 }) => `${name} (SHA-256 ${sha256})`).join(", ")};
        answered by ${sources.join("; ")}; seed ${seed}. Skill is 1 − Brier score / that of always
        giving the base rate (of levels: by ranked probability score). The curve is CORP (isotonic
        regression); its band and the miscalibration by chance come from 500 draws under what is
        printed. Thresholds are learn-then-test with exact binomial tails at ${percent(confidence)}.
        Nothing of this page is uploaded; report.json beside it holds the same numbers.
      </p>
    </footer>`;
  return page({ title: "Do the probabilities hold?", style: pageStyle, body });
}
