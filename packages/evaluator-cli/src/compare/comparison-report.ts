import { join, resolve } from "node:path";
import {
  type CliContext,
  toPrintablePath,
  truncateCharacters,
  percent,
  printDown,
  printAtLeast,
  printAtMost,
  printPValue,
  printThreshold,
  printSigned,
} from "evaluator-kit";
import { html, type Html, page, type PageLink, reportsBeside, table } from "evaluator-kit/page";
import { alignColumns, printCount, printCounted } from "evaluator-runs/source";
import type { CompareOptions } from "../commands/ask-commands.ts";
import {
  renderCurvePlot,
  renderHistogramPlot,
  METHOD,
  NOT_UPLOADED,
  SKILL,
} from "../report/page-parts.ts";
import { describeRange } from "../report/sentences.ts";
import { writeReport } from "../write-report.ts";
import type { Comparison } from "./comparison.ts";

type ComparedQuestion = Comparison["questions"][number];
type EngineOnQuestion = ComparedQuestion["engines"][number];

/** Prints a comparison, and writes its page and its numbers. */
export async function writeComparison(
  comparison: Comparison,
  { out, json: isJson }: CompareOptions,
  context: CliContext,
): Promise<void> {
  const pages = await reportsBeside(join(resolve(context.cwd, out), "report.html"));
  const files = { "report.html": comparisonPage(comparison, pages), "report.json": comparison };
  const printedText = isJson === true ? null : printComparison(comparison);
  await writeReport({ out, files, kept: ["answers.sqlite"], printed: printedText }, context);
}

/** Returns the comparison in lines for a terminal. */
function printComparison(comparison: Comparison): string {
  const { notes, engines, questions } = comparison;
  const lines = [
    ...notes,
    ...alignRows([
      ["engine", "answered", "failed", "p50", "p95", "per 1,000"],
      ...engines.map((engine) => [engine.name].concat(describeWork(engine))),
    ]),
    ...describeFailures(comparison),
    ...questions.flatMap((question) => ["", describeQuestion(question, comparison)].flat()),
    ...describeBound(comparison),
  ];
  return `${lines.map(toPrintablePath).join("\n")}\n`;
}

function describeFailures({ engines }: Comparison): string[] {
  return engines.flatMap(({ name, failures }) =>
    failures.slice(0, 3).map(({ message, n }) => `${name}: ${printCount(n)} × ${message}`),
  );
}

/** Returns the counts, times and price of an engine. */
function describeWork(engine: Comparison["engines"][number]): string[] {
  const {
    answered: answeredCount,
    failed: failedCount,
    p50Ms,
    p95Ms,
    costPer1000Usd: usd,
  } = engine;
  const [p50, p95] = [p50Ms, p95Ms].map((time) =>
    time === null ? "–" : `${printCount(Math.round(time))} ms`,
  ) as [string, string];
  const price = usd === null ? "unknown" : `$${usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2)}`;
  return [printCount(answeredCount), printCount(failedCount), p50, p95, price];
}

/** The head of the figures that `describeFigures` returns. */
const figureHead = "labels worth skill accuracy miscal. AUC flips promise".split(" ");

/** Returns the figures of an engine on one question. */
function describeFigures({ report, flips }: EngineOnQuestion): string[] {
  const flippedText = flips === null ? "–" : percent(flips);
  if (report === null) return ["0", "–", "–", "–", "–", "–", flippedText, "–"];
  const { n, verdict, scores, curve, actions } = report;
  const promisedThreshold = actions.filter((action) => action.promised !== null);
  const [first] = promisedThreshold.toSorted(
    (one, other) => (other.coverage ?? 0) - (one.coverage ?? 0),
  );
  return [
    printCount(n),
    verdict,
    percent(scores.skill.value),
    percent(scores.accuracy.value),
    curve === null ? "–" : `${curve.isCalibrated ? "✓" : "✗"} ${curve.miscalibration.toFixed(4)}`,
    Number.isNaN(scores.auc.value) ? "–" : printDown(scores.auc.value),
    flippedText,
    first === undefined || first.promised === null
      ? "none"
      : `${first.action} ≥ ${printThreshold(first.promised.threshold)} (${percent(first.coverage ?? 0)})`,
  ];
}

/** Returns the difference to the first engine in one line; null for the first, and without labels. */
function describeDifference(
  { name, difference, judgement }: EngineOnQuestion,
  margin: Comparison["margin"],
): string | null {
  if (difference === null) return null;
  const { n, brierDifference, onlyBeforeRight, onlyAfterRight, pValue } = difference;
  const { mean, low, high } = brierDifference;
  const words = {
    first: "",
    "no margin": "",
    "as good": `as good as the first within ${margin}; `,
    worse: `worse than the first by more than ${margin}; `,
    "no fair draw": "the labels are no random draw, so they judge no engine; ",
    "not shown": `not shown to be as good as the first within ${margin}; `,
  };
  return `${name}: ${words[judgement]}Brier score ${printSigned(mean)} (${printSigned(low)} to ${printSigned(high)}; above 0 is worse) on ${printCounted(n, "label")}; right alone ${printCount(onlyAfterRight)}, the first alone ${printCount(onlyBeforeRight)} (${printPValue(pValue)})`;
}

/** Returns the differences to the first engine, and the common mistakes and coverage of each two engines. */
function describeCompared({ engines, pairs }: ComparedQuestion, { margin }: Comparison): string[] {
  const differences = engines.flatMap((engine) => describeDifference(engine, margin) ?? []);
  const lines = pairs.map((pair) => {
    const names = pairs.length === 1 ? "" : `${pair.first} and ${pair.second}: `;
    return names + describePair(pair);
  });
  return [...differences, ...lines];
}

function describePair({
  mistakes,
  covered: coverageCounts,
}: ComparedQuestion["pairs"][number]): string {
  const { n, both, correlation } = mistakes;
  const mine = `${printCount(mistakes.first)} and ${printCount(mistakes.second)} wrong, ${printCount(both)} by both`;
  const correlationText =
    correlation === null ? "cannot be compared" : `correlate ${printSigned(correlation, 2)}`;
  const share = (records: number) => percent(records / coverageCounts.records);
  const alone = `${share(coverageCounts.first)} and ${share(coverageCounts.second)} alone`;
  const coverage =
    coverageCounts.first + coverageCounts.second === 0
      ? "no act of either is promised"
      : `their promised acts cover ${share(coverageCounts.together)} of ${printCounted(coverageCounts.records, "record")} together (${alone}, ${printCount(coverageCounts.conflicts)} in conflict left out)`;
  return `Their mistakes ${correlationText} on ${printCounted(n, "label")} (${mine}); ${coverage}`;
}

/** Returns the bound on the joint mistakes of two engines' acts; nothing if no pair of engines acts. */
function describeBound({ questions, maxRisk, confidence }: Comparison): string[] {
  const pairs = questions.flatMap((question) => question.pairs);
  if (
    !pairs.some(({ covered: coverageCounts }) => coverageCounts.first + coverageCounts.second > 0)
  )
    return [];
  const [risk, twice] = [maxRisk, Math.min(1, 2 * maxRisk)].map(printAtMost);
  return [
    `Of the acts of each engine alone at most ${risk} are wrong, with ${printAtLeast(confidence)} confidence for all engines and questions; of two engines together up to ${twice}, as their mistakes may differ.`,
  ];
}

function describeQuestion(comparedQuestion: ComparedQuestion, comparison: Comparison): string[] {
  const { question, engines } = comparedQuestion;
  const rows = engines.map((one) => [one.name].concat(describeFigures(one)));
  const lines = alignRows([["", ...figureHead], ...rows]);
  lines.push(...describeCompared(comparedQuestion, comparison));
  return [question, ...lines.map((line) => `  ${line}`)];
}

function alignRows(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(toPrintablePath));
  return Array.from(
    alignColumns(() => cells),
    (line) => line.trimEnd(),
  );
}

const workHead = "engine;answered by;answered;failed;half within;95 % within;per 1,000".split(";");

/** Returns a comparison as one page: the engines, then each question with all engines side by side. */
function comparisonPage(comparison: Comparison, pages: readonly PageLink[]): string {
  const { engines, records, notes, labels, questions, seed, isCalibrated } = comparison;
  const work = engines.map((engine) => [
    breakable(engine.name),
    engine.models.join(", ") || "–",
    ...describeWork(engine),
  ]);
  const notices = [...notes, ...describeFailures(comparison)];
  return page({
    tool: "evaluator-cli",
    pages,
    heading: "Which engine for which question?",
    about: html`<p class="about">
        ${engines.length} engines on the same ${printCounted(records, "record")}
      </p>
      ${notices.length === 0 ? null : html`<div class="notice">${notices.map((line) => html`<p>${breakable(line)}</p>`)}</div>`}`,
    contents: [
      { href: "#work", name: "What they took" },
      ...questions.map(({ question }, at) => ({ href: `#question-${at}`, name: toName(question) })),
      METHOD,
    ],
    body: html`<section class="part" id="work">
        <h2>What they took</h2>
        ${table("What they took", workHead, work)}
      </section>
      ${questions.map((question, at) => section(question, { ...comparison, at }))}
      ${describeBound(comparison).map((line) => html`<p class="quiet">${line}</p>`)}`,
    footer: html`<p id="method">
      How it was computed: the same states and questions to each engine, one engine after the other;
      time is of whole calls, waits and retries included.
      ${labels === null ? "No labels." : `Labels ${labels.name} (SHA-256 ${labels.sha256.slice(0, 12)}…).`}
      ${isCalibrated ? "Each engine was fitted on half of the labels and compared on the other." : "Probabilities are compared as printed."}
      ${SKILL}. The interval of a Brier difference is paired, and all of them hold together with 95
      % confidence; right alone is compared by the exact McNemar test; mistakes correlate by the phi
      coefficient: at 0 they are independent, at 1 they are on the same records. Seed ${seed}.
      ${NOT_UPLOADED}
    </p>`,
    styles: [new URL("../report/report.css", import.meta.url)],
  });
}

function toName(question: string): string {
  return truncateCharacters(question, 60);
}

/** Returns a text in which a narrow page breaks an address between its parts. */
function breakable(text: string): Html[] {
  return text.split(/(?<=[/=@,])(?!\/)/).map((part) => html`<wbr />${part}`);
}

function section(
  comparedQuestion: ComparedQuestion,
  comparison: Comparison & { readonly at: number },
) {
  const { question, engines } = comparedQuestion;
  const figures = engines.map((engine) => [breakable(engine.name), ...describeFigures(engine)]);
  return html`<section class="part question" id="question-${comparison.at}">
    <h2><code>${toName(question)}</code></h2>
    ${
      engines.some(({ report }) => report !== null)
        ? html`<p class="quiet">What each is worth on the labels of records that all answered</p>
            ${table(`${question}: worth on the labels of records that all answered`, ["engine", ...figureHead], figures)}
            ${describeCompared(comparedQuestion, comparison).map((line) => html`<p>${breakable(line)}.</p>`)}`
        : null
    }
    <div class="columns">${engines.map((engine) => engineCard(engine, question))}</div>
  </section>`;
}

function engineCard({ name, report }: EngineOnQuestion, question: string): Html | null {
  if (report === null) return null;
  const { curve, n, verdict, scores } = report;
  const { skill } = scores;
  const worth = {
    useful: `Worth ${percent(skill)} of the way from guessing to knowing.`,
    "useful after recalibration": `Sorts better than chance (AUC ${printDown(scores.auc.value)}); recalibrate it.`,
    worthless: "Worthless as far as these labels show.",
    "one truth only": "The labels have one truth only.",
  }[verdict];
  return html`<div class="card stack">
    <h3>${breakable(toName(name))}</h3>
    <p class="quiet">${worth} Skill ${percent(skill)} (${describeRange(skill)}).</p>
    ${curve === null ? html`<p>${printCounted(n, "label")} show no curve; 30 do.</p>` : curvePlots(curve.points, `${question} of ${name}`)}
  </div>`;
}

/** Returns a question's curve, and the histogram of its printed probabilities. */
function curvePlots(points: Parameters<typeof renderCurvePlot>[0], what: string): Html {
  return html`${renderCurvePlot(points, { what, title: "Printed and come true" })}
  ${renderHistogramPlot(points, what)}`;
}
