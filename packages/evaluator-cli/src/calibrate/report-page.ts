import type { CurveReport } from "evaluator-calibration/reports";
import { printShare } from "evaluator-kit";
import { html, type Html, type HtmlValue, page, table } from "evaluator-kit/page";
import { curvePlots, pageStyle, riskPlot } from "../report/page-parts.ts";
import { count, describeJoin, nameSource, percent, range, wordsOf } from "../report/sentences.ts";
import type { CalibrationReport } from "./calibration-report.ts";

/** Returns the report as one page, without scripts and links: each question on one sheet of A4. */
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
        regression); its band and the miscalibration by chance come from 500 draws from the printed
        values. Thresholds are learn-then-test with exact binomial tails at ${percent(confidence)};
        those of a plan are tested by betting after each label. Nothing of this page is uploaded;
        report.json beside it holds the same numbers.
      </p>
    </footer>`;
  return page({ title: "Do the probabilities hold?", style: pageStyle, body });
}

type Reported = CalibrationReport["reports"][number];

function questionSection(question: Reported, report: CalibrationReport): Html {
  const { curve, actions } = question;
  const words = wordsOf(question, report);
  return html`<section class="question${curve === null ? " small" : ""}">
    <h2>${withNames(question.sentence)}</h2>
    ${words.labels.map((note) => html`<p class="notice">${note}</p>`)}
    <p class="quiet">
      Answered by ${words.source}. ${describeJoin(question.question, question.counts)}
    </p>
    ${question.n === 0 ? null : tiles(question, words)}
    <div class="columns">
      <div class="stack">
        ${curve === null ? fewCard(question) : [curveCard(question, curve), printedCard(curve)]}
      </div>
      <div class="stack">
        ${actions.length === 0 ? null : actionCard(question, report.maxRisk, words.permissions)}
        ${groupCard(question)} ${recalibrationCard(question)} ${neededCard(question, report)}
      </div>
    </div>
    ${worstCard(question, report)}
  </section>`;
}

function tiles(question: Reported, { rates, labelers }: ReturnType<typeof wordsOf>): Html {
  const { scores, curve, n } = question;
  const { skill, accuracy, constant, logLoss } = scores;
  const always = `always “${constant.always}”: ${percent(constant.accuracy)}`;
  const losses = `Log loss ${logLoss.value.toFixed(3)}, base rate ${constant.logLoss.toFixed(3)}`;
  const atHalf = rates === null ? "" : `. At 0.5 ${rates}`;
  const weighted = question.isWeighted ? "; weighted by how they were drawn" : "";
  const skillNote = `${range(skill)}; always the base rate: 0 %. ${lossesOf(question)}`;
  return html`<dl class="tiles">
    ${tile("Skill", percent(skill.value), skillNote)}
    ${tile("Accuracy", percent(accuracy.value), `${range(accuracy)}; ${always}. ${losses}${atHalf}`)}
    ${tile("Miscalibration", ...describeCurve(curve))}
    ${tile("Labels", count(n), `by ${labelers}${weighted}`)}
  </dl>`;
}

function tile(name: string, value: string, note: string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}<small>${note}</small></dd>
  </div>`;
}

function describeCurve(curve: CurveReport | null): [value: string, note: string] {
  if (curve === null) return ["–", "needs 30 labels"];
  const { miscalibration, miscalibrationByChance, isCalibrated, calibrationError } = curve;
  const { equalWidth, equalWidthByChance } = calibrationError;
  return [
    `${isCalibrated ? "✓" : "✗"} ${miscalibration.toFixed(4)}`,
    `by chance up to ${miscalibrationByChance.toFixed(4)}; ECE ${equalWidth.toFixed(3)}, by chance ${equalWidthByChance.toFixed(3)}`,
  ];
}

function lossesOf({ scores, form }: Reported): string {
  const { brier, constant, levels } = scores;
  const first = `Brier ${brier.toFixed(3)}${form === "probability" ? "" : " of 2"}, base rate ${constant.brier.toFixed(3)}`;
  if (levels === null || constant.rankedProbability === null) return first;
  return `${first}; RPS ${levels.rankedProbability.toFixed(3)}, base rate ${constant.rankedProbability.toFixed(3)}; off by ${levels.meanAbsoluteError.toFixed(2)} levels, Spearman ${levels.spearman.toFixed(2)}`;
}

function card(title: string, content: HtmlValue): Html {
  return html`<div class="card">
    <h3>${title}</h3>
    ${content}
  </div>`;
}

function fewCard({ n }: Reported): Html | null {
  if (n === 0) return null;
  const text = `${count(n)} labelled answers show scores with wide ranges, and no curve, threshold or promise.`;
  return card("Too few labels for a curve", html`<p>${text} From 30 on there is one.</p>`);
}

function curveCard({ form, scores, question }: Reported, curve: CurveReport): Html {
  const top = scores.levels === null ? "the most probable option" : "the most probable level";
  const what = { probability: "yes", distribution: top }[form];
  return html`<figure class="card">
    <h3>Does “${what}” come true as often as printed?</h3>
    ${curvePlots(curve.points, question)}
    <figcaption>
      Line: observed rate (isotonic). Shaded: 90 % of lines lie here if every printed value is true.
      ▲: outside it. Dotted: the printed value.
    </figcaption>
  </figure>`;
}

function printedCard({ points }: CurveReport): Html {
  // Ten ranges: each includes its upper edge, and the first includes 0.
  const ranges = Map.groupBy(points, ({ p }) => Math.max(0, Math.ceil(10 * p - 1e-9) - 1));
  const rows = Array.from(ranges, ([index, found]) => {
    const [from, to] = [index / 10, (index + 1) / 10];
    const n = found.reduce((sum, point) => sum + point.n, 0);
    const printed = found.reduce((sum, { n, p }) => sum + n * p, 0) / n;
    const observed = found.reduce((sum, { n, raw }) => sum + n * raw, 0) / n;
    return [`${from.toFixed(1)}–${to.toFixed(1)}`, count(n), percent(printed), percent(observed)];
  });
  return card("Printed → came true", table(["printed", "rows", "mean", "came true"], rows));
}

function actionCard(question: Reported, maxRisk: number, permissions: readonly string[]): Html {
  const { actions, n } = question;
  const isPermitted = actions.some(({ promised }) => promised !== null);
  const lines = `Line: share wrong when acting on that share of rows, safest first; shaded: 95 % interval of the solid line. `;
  return html`<figure class="card">
    <h3>What may I do without asking?</h3>
    ${n === 0 ? null : riskPlot(actions, maxRisk)}
    <ul>
      ${permissions.map((line) => html`<li>${line.slice(0, 1).toUpperCase() + line.slice(1)}</li>`)}
    </ul>
    <figcaption>
      ${n === 0 ? null : lines}
      ${isPermitted ? "A promise holds for records like the labelled ones." : "No line is a permission."}
    </figcaption>
  </figure>`;
}

function groupCard({ groups }: Reported): Html | null {
  if (groups.length === 0) return null;
  const rows = groups.map(({ group, n, brier, skill, difference, pValue, promised }) => {
    const isOff = pValue !== null && pValue < 0.05;
    const judged = isOff ? `✗ ${pValue.toFixed(3)}` : `✓ ${pValue?.toFixed(2)}`;
    const promises = promised.map(({ action, threshold }) => `${action} ≥ ${threshold.toFixed(2)}`);
    return [
      group,
      count(n),
      brier.toFixed(3),
      skill === null ? "–" : percent(skill),
      `${signed(difference.value)} (${signed(difference.low)} to ${signed(difference.high)})`,
      pValue === null ? "too few" : judged,
      promises.join(", ") || "–",
    ];
  });
  const head = ["group", "n", "Brier", "skill", "came true − printed", "p (Holm)", "promise"];
  return card("Groups", table(head, rows));
}

function signed(share: number): string {
  return `${share < 0 ? "−" : "+"}${Math.round(100 * Math.abs(share))} %`;
}

function recalibrationCard({ recalibration }: Reported): Html | null {
  const { heldOut, recalibration: found } = recalibration;
  if (found === null || heldOut === null) return null;
  const gain = `from ${heldOut.before.toFixed(4)} to ${heldOut.after.toFixed(4)}.`;
  const what = `A ${found.kind} fit lowers the log loss on rows it had not seen`;
  return card("Recalibrating", html`<p>${what} ${gain}</p>`);
}

function neededCard({ needed, n }: Reported, { maxRisk, confidence }: CalibrationReport): Html {
  const more = Math.max(0, needed.forFivePoints - n);
  const missing = more === 0 ? "you have them" : `${count(more)} more`;
  return card(
    "How many more labels?",
    html`<ul>
      <li>Accuracy to ±5 points takes ${count(needed.forFivePoints)} labels: ${missing}.</li>
      <li>
        A promise of ${printShare(maxRisk)} with ${percent(confidence)} confidence takes
        ${count(needed.forPromiseWithoutErrors)} acted-on labels without one error;
        ${count(needed.forPromise)} give an 80 % chance of it where ${printShare(0.4 * maxRisk)} are
        wrong.
      </li>
    </ul>`,
  );
}

function worstCard({ worst }: Reported, { texts }: CalibrationReport): Html | null {
  if (worst.length === 0) return null;
  const rows = worst.map(({ id, truth, answer, probability }) => {
    const text = Object.hasOwn(texts ?? {}, id) ? texts?.[id]?.slice(0, 160) : undefined;
    const shown = text === undefined ? null : html`<br /><span class="quiet">${text}</span>`;
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

/** Returns a sentence with the text between backticks as names. */
function withNames(sentence: string): readonly (Html | string)[] {
  return sentence
    .replaceAll(" %", "\u00A0%")
    .split("`")
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
