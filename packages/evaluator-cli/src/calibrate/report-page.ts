import type { ActionReport, CurveReport } from "evaluator-calibration/reports";
import {
  truncateCharacters,
  percent,
  percentRange,
  printDown,
  printAtLeast,
  printThreshold,
  printSigned,
} from "evaluator-kit";
import { html, type Html, type HtmlValue, page, type PageLink, table } from "evaluator-kit/page";
import { printCount } from "evaluator-runs/source";
import {
  renderCurvePlot,
  renderHistogramPlot,
  METHOD,
  toActionName,
  renderRiskPlot,
  NOT_UPLOADED,
  SKILL,
} from "../report/page-parts.ts";
import {
  describeBlank,
  describeJoin,
  describeRange,
  describeYes,
  nameSource,
  listReportWords,
} from "../report/sentences.ts";
import type { CalibrationReport } from "./calibration-report.ts";

/** Returns the report as one page without scripts: each question on one screen, the rest folded. */
export function reportPage(report: CalibrationReport, pages: readonly PageLink[]): string {
  const { reports, notes, blankLabels, files, seed, confidence } = report;
  const sources = [...new Set(reports.map(({ source }) => nameSource(source)))];
  const blank = blankLabels === 0 ? "" : ` ${describeBlank(blankLabels)}`;
  return page({
    tool: "evaluator-cli",
    pages,
    heading: "Do the probabilities hold?",
    about: html`<p class="about">
        ${sources.length === 0 ? "Nothing to report" : `Answered by ${sources.join("; ")}`}; labels
        of ${files.labels.name}.${blank}
      </p>
      ${notes.length === 0 ? null : html`<div class="notice">${notes.map((note) => html`<p>${note}</p>`)}</div>`}`,
    contents: [
      ...reports.map((question, at) => ({
        href: `#question-${at}`,
        name: `${truncateCharacters(question.question, 60)}${sources.length < 2 ? "" : ` by ${question.source.modelId ?? "no name"}`}`,
        count: toGate(question.actions),
      })),
      METHOD,
    ],
    body: html`${reports.map((question, at) => questionSection(question, { ...report, at, sources }))}`,
    footer: html`<p id="method">
      How it was computed: labels ${files.labels.name} (SHA-256
      ${files.labels.sha256.slice(0, 12)}…); answers
      ${files.answers.map(({ name, sha256 }) => `${name} (SHA-256 ${sha256.slice(0, 12)}…)`).join(", ")};
      seed ${seed}. ${SKILL} (of levels: by ranked probability score). The curve is CORP (isotonic
      regression); its band and the miscalibration by chance come from 500 draws from the printed
      values. Thresholds are learn-then-test with exact binomial tails at
      ${printAtLeast(confidence)}; those of a plan are tested by betting after each label.
      ${NOT_UPLOADED}
    </p>`,
    styles: [new URL("../report/report.css", import.meta.url)],
  });
}

type Reported = CalibrationReport["reports"][number];

/** The report of a question's page, the question's place, and all sources. */
type Around = CalibrationReport & { readonly at: number; readonly sources: readonly string[] };

function questionSection(question: Reported, report: Around): Html {
  const { curve, actions, n } = question;
  const { at, sources, maxRisk } = report;
  const words = listReportWords(question, report);
  const name = truncateCharacters(question.question, 60);
  return html`<section
    class="part question"
    id="question-${at}"
    data-question="${question.question}"
  >
    <h2><code>${name}</code></h2>
    <p class="lead">${withNames(question.sentence)}</p>
    ${sources.length < 2 ? null : html`<p class="quiet">Answered by ${words.source}.</p>`}
    ${gateTiles(question)}
    <div class="columns">
      ${actions.length === 0 || n === 0 ? null : html`<div class="card">${renderRiskPlot(actions, maxRisk, question.question)}</div>`}
      ${curve === null ? null : html`<div class="card">${renderCurvePlot(curve.points, { what: question.question, title: curveTitle(question) })}</div>`}
    </div>
    <details>
      <summary>Acts, figures and labels of ${name}</summary>
      <div class="fold">
        ${permissionCard(question, words.permissions)} ${n === 0 ? null : tiles(question, words)}
        ${curve === null ? null : html`<div class="stack">${renderHistogramPlot(curve.points, question.question)}</div>`}
        ${groupCard(question)} ${recalibrationCard(question)} ${labelCard(question, words.labels)}
        ${worstCard(question, report)}
      </div>
    </details>
  </section>`;
}

/** Returns the gates of the promised acts; `none` without a promise. */
function toGate(actions: readonly ActionReport[]): string {
  const gates = actions.flatMap(({ action, promised: promisedThreshold }) =>
    promisedThreshold === null
      ? []
      : `${toActionName(action)} ≥ ${printThreshold(promisedThreshold.threshold)}`,
  );
  return gates.join(", ") || "none";
}

/** Returns the gate, the handled share, the misses and the missing labels. */
function gateTiles({ actions, needed: neededLabels, scores, verdict }: Reported): Html {
  const promisedThreshold = actions.filter((action) => action.promised !== null);
  const handledShare = promisedThreshold.reduce((sum, { coverage }) => sum + (coverage ?? 0), 0);
  const foundEstimate = promisedThreshold.flatMap((action) => action.found ?? [])[0];
  const passedEstimate = promisedThreshold.flatMap((action) => action.passed ?? [])[0];
  const more = actions.flatMap(({ drawn: drawnSample }) => drawnSample?.more ?? []);
  const isMade = promisedThreshold.length > 0;
  const missedTile = foundEstimate
    ? [percent(1 - foundEstimate.value), `of all yes; ${percentRange(foundEstimate)} found`]
    : passedEstimate
      ? [percent(passedEstimate), `of all yes get a no; ${percentRange(passedEstimate)}`]
      : ["–", isMade ? "no yes and no" : "nothing is handled"];
  const toGo = more.length > 0 ? Math.max(...more) : neededLabels.forPromise;
  const labels = isMade
    ? ["0", "the promise is made"]
    : verdict === "worthless" && scores.skill.high <= 0
      ? ["–", "the answers add nothing"]
      : [`≈ ${printCount(toGo)}`, "to a promise, of records over the gate"];
  return html`<dl class="tiles">
    ${tile("Gate", toGate(actions), isMade ? "promised" : "No threshold can be promised.")}
    ${tile("Share handled", isMade ? percent(handledShare) : "0 %", "of all, without asking")}
    ${tile("Missed", missedTile[0] ?? "", missedTile[1] ?? "")}
    ${tile("Labels to go", labels[0] ?? "", labels[1] ?? "")}
  </dl>`;
}

function curveTitle({ form, scores }: Reported): string {
  const top = scores.levels === null ? "the most probable option" : "the most probable level";
  return `Does “${form === "probability" ? "yes" : top}” come true as often as printed?`;
}

function permissionCard({ actions }: Reported, permissions: readonly string[]): Html | null {
  const isPermitted = actions.some(({ promised: promisedThreshold }) => promisedThreshold !== null);
  if (permissions.length === 0) return null;
  const bound = isPermitted
    ? "A promise holds for records like the labelled ones."
    : "No line is a permission.";
  return card(
    "Acts",
    html`<ul>
        ${permissions.map((line) => html`<li>${line.slice(0, 1).toUpperCase() + line.slice(1)}</li>`)}
      </ul>
      <p class="quiet">${bound}</p>`,
  );
}

function labelCard({ question, counts }: Reported, notes: readonly string[]): Html {
  const lines = [describeJoin(question, counts), ...notes];
  return card("Labels", html`${lines.map((line) => html`<p>${line}</p>`)}`);
}

function tiles(question: Reported, { rates, labelers }: ReturnType<typeof listReportWords>): Html {
  const { scores, curve, n } = question;
  const { skill, accuracy, constant, logLoss } = scores;
  const always = `always “${constant.always}”: ${percent(constant.accuracy)}`;
  const losses = `Log loss ${logLoss.value.toFixed(3)}, base rate ${constant.logLoss.toFixed(3)}`;
  const atHalf = rates === null ? "" : `. At 0.5 ${rates}`;
  const weightedText = question.isWeighted ? "; weighted by how they were drawn" : "";
  const skillNote = `${describeRange(skill)}; always the base rate: 0 %. ${listLosses(question)}`;
  return html`<dl class="tiles">
    ${tile("Skill", percent(skill), skillNote)}
    ${tile("Accuracy", percent(accuracy), `${percentRange(accuracy)}; ${always}. ${losses}${atHalf}`)}
    ${tile("Miscalibration", ...describeCurve(curve))}
    ${question.yes && tile("Yes in all", percent(question.yes), describeYes(question))}
    ${tile("Labels", printCount(n), `by ${labelers}${weightedText}`)}
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

function listLosses({ scores, form }: Reported): string {
  const { brier, constant, levels } = scores;
  const first = `Brier ${brier.toFixed(3)}${form === "probability" ? "" : " of 2"}, base rate ${constant.brier.toFixed(3)}`;
  if (levels === null || constant.rankedProbability === null) return first;
  return `${first}; RPS ${levels.rankedProbability.toFixed(3)}, base rate ${constant.rankedProbability.toFixed(3)}; off by ${levels.meanAbsoluteError.toFixed(2)} levels, Spearman ${printDown(levels.spearman)}`;
}

function card(title: string, content: HtmlValue): Html {
  return html`<div class="stack">
    <h3>${title}</h3>
    ${content}
  </div>`;
}

function groupCard({ groups, question }: Reported): Html | null {
  if (groups.length === 0) return null;
  const rows = groups.map(
    ({ group, n, brier, skill, difference, promised: promisedThresholds }) => {
      const { value, low, high } = difference;
      const promises = promisedThresholds.map(
        ({ action, threshold }) => `${action} ≥ ${printThreshold(threshold)}`,
      );
      return [
        group,
        printCount(n),
        brier.toFixed(3),
        skill === null ? "–" : percent(skill),
        `${ofHundred(value)} (${ofHundred(low)} to ${ofHundred(high)})`,
        promises.join(", ") || "–",
      ];
    },
  );
  const head = ["group", "n", "Brier", "skill", "came true − printed", "promise"];
  return card("Groups", table(`${question}: groups`, head, rows));
}

function ofHundred(share: number): string {
  return `${printSigned(100 * share, 0)} %`;
}

function recalibrationCard({ recalibration }: Reported): Html | null {
  const { heldOut, recalibration: foundFit } = recalibration;
  if (foundFit === null || heldOut === null) return null;
  const gain = `from ${heldOut.before.toFixed(4)} to ${heldOut.after.toFixed(4)}.`;
  const what = `A ${foundFit.kind} fit lowers the log loss on rows it had not seen`;
  return card("Recalibrating", html`<p>${what} ${gain}</p>`);
}

function worstCard({ worst, question }: Reported, { texts }: CalibrationReport): Html | null {
  if (worst.length === 0) return null;
  const rows = worst.map(({ id, truth, answer, probability }) => {
    const text = Object.hasOwn(texts ?? {}, id) ? texts?.[id]?.slice(0, 160) : undefined;
    return [id, truth, answer, probability.toFixed(2), ...(texts === null ? [] : [text ?? "–"])];
  });
  const head = ["id", "is", "answered", "printed", ...(texts === null ? [] : ["text"])];
  return card("Farthest off", table(`${question}: farthest off`, head, rows));
}

/** Returns a sentence with the text between backticks as names. */
function withNames(sentence: string): readonly (Html | string)[] {
  return sentence
    .split("`")
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
