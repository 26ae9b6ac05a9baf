import { html, type Html, pageAround, type PageLink, table, trusted } from "evaluator-kit/page";
import { bundleScript } from "evaluator-kit/bundle-script";
import { type CalibrationArtifact, nameModel } from "evaluator-calibration";
import { toPrintable } from "evaluator-kit";
import { describeSteps, isEmulator, type planOf, type RunFacts } from "evaluator-runs/results";
import { printCount, printCounted, printUsd } from "evaluator-runs/source";
import { AWAY_SHOWN, awaySection, doneButton, FEWER_MAILS } from "./away-section.ts";
import { type ListFacts, mailItem } from "./mail-item.ts";
import { MailList } from "./mail-list.ts";
import type { ShownQuestion } from "./mail-row.ts";
import { numbersSection, toLabel } from "./plots.ts";
import type { Sections } from "./sections.ts";

/** Mails of a section that the page shows without its script; the others are packed. */
const ROWS_SHOWN = 25;
const SENDERS = 30;

/** The content of a page. */
export interface ReportParts extends ListFacts, Pick<Sections, "sections"> {
  /** This page and those beside it. */
  readonly pages: readonly PageLink[];
  readonly list: MailList;
  /** All runs, the last one last. */
  readonly runs: readonly RunFacts[];
  readonly calibration: CalibrationArtifact | null;
  /** How many labelled answers of each engine are wrong; null if no second one was asked. */
  readonly wrong: string | null;
  /** The mails of the results, also the ones that are not shown. */
  readonly all: { readonly mails: number; readonly failed: number };
  /** One line each about mails that are left out, and new mails. */
  readonly notes: readonly string[];
  /** Whether a group was put away last, which the page takes back. @default false */
  readonly hasLastGroup?: boolean;
  /** The rules with the mails that each takes; null without rules. */
  readonly plan: ReturnType<ReturnType<typeof planOf>["rules"]> | null;
}

/** Returns one page about results, piece by piece: a list to act on, then the numbers. */
export async function* reportPage(parts: ReportParts): AsyncGenerator<string> {
  const { list } = parts;
  const script = await bundleScript(new URL("script/main.ts", import.meta.url));
  const title = `Triage of ${printCounted(list.length, "mail")}`;
  const sections = parts.sections.map((section, at) => {
    return { ...section, at, count: list.counts[at]?.threads ?? 0 };
  });
  const groups = sections.filter(({ count }) => count > 0);
  const senders = sendersSection(parts);
  const away = parts.tomorrow === null ? [] : list.away(AWAY_SHOWN);
  const [before, after] = pageAround({
    tool: "evaluator-triage",
    pages: parts.pages,
    heading: title,
    about: html`<p class="about basis">${describeBasis(parts)}</p>
      ${parts.notes.map((note) => html`<p class="note">${note}</p>`)}
      ${parts.tomorrow === null ? null : workBar}`,
    contents: [
      ...groups.map(({ id, title, count }) => {
        return { href: `#${id}`, name: toLabel(title), count: printCount(count) };
      }),
      ...(senders === null ? [] : [{ href: "#senders", name: "Senders" }]),
      ...(away.length === 0 ? [] : [{ href: "#away", name: "Done and snoozed" }]),
      { href: "#numbers", name: "In numbers" },
    ],
    body: html`${groups.length === 0 ? html`<p>No mails.</p>` : null} ${toList(groups, parts)}
    ${senders} ${awaySection(away, parts)} ${numbersSection(list, parts.questions)}`,
    styles: [new URL("report.css", import.meta.url)],
    script,
    formsTo: parts.tomorrow === null ? "none" : "self",
    data: factsElement(parts),
  });
  yield before;
  for (const pack of list.packs()) {
    yield `\n<script type="text/plain" class="pack">${pack}</script>`;
  }
  yield after;
}

const workBar = html`<p class="about work">
    <a href="check/?question=scam">Label this week's five random mails</a>, so that promises can be
    audited.
    <span class="keys-help"
      >Keys: <kbd>j</kbd> <kbd>k</kbd> move, <kbd>e</kbd> done, <kbd>s</kbd> snooze,
      <kbd>w</kbd> wrong, <kbd>u</kbd> undo, <kbd>/</kbd> search, <kbd>Esc</kbd> back to the
      list.</span
    >
  </p>
  <p id="saved" role="status"></p>`;

/** Describes the model, the time, the cost and the calibration in one line. */
function describeBasis({ runs, calibration, all, wrong }: ReportParts): string {
  const last = runs.at(-1);
  const answeredText = `${printCount(all.mails - all.failed)} of ${printCounted(all.mails, "mail")}`;
  const worth = describeWorth(calibration);
  if (last === undefined) return `${answeredText} answered; no run is complete. ${worth}`;
  const engine = isEmulator(last.wire) ? " (recordings or matching words, not a model)" : "";
  const day = last.finishedAt.slice(0, 16).replace("T", " ");
  const who = toPrintable(`${last.modelId} through ${last.wire}`) + engine;
  const answers = `${who} answered ${answeredText}, last on ${day} UTC, for ${toCost(runs)}.`;
  return [answers, ...describeSteps(sumSteps(runs)), wrong ?? [], worth].flat().join(" ");
}

/** Returns what each engine did in all runs in which one was asked again. */
function sumSteps(runs: readonly RunFacts[]) {
  const sums = new Map<string, NonNullable<RunFacts["steps"]>[number] & { step: number }>();
  for (const [at, step] of runs.flatMap(({ steps = [] }) => [...steps.entries()])) {
    const key = JSON.stringify([at, step.name]);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...step, step: at + 1 });
    else {
      for (const count of ["records", "answers", "unsure", "costUsd", "failed"] as const) {
        sum[count] += step[count];
      }
      sum.isUnpriced ||= step.isUnpriced;
    }
  }
  return [...sums.values()].toSorted((one, other) => one.step - other.step);
}

function describeWorth(calibration: CalibrationArtifact | null): string {
  if (calibration === null) {
    return "Not calibrated: check the probabilities with evaluator-triage label and evaluator-cli calibrate.";
  }
  const { model, fittedOn } = calibration;
  const name = toPrintable(nameModel(model.id));
  return `Calibrated on ${printCount(fittedOn.n)} labels for ${name}.`;
}

// The sum leaves out runs with an unknown price.
function toCost(runs: readonly RunFacts[]): string {
  const usd = runs.reduce((total, { costUsd }) => total + costUsd, 0);
  if (!runs.some(({ isUnpriced }) => isUnpriced)) return printUsd(usd);
  return usd === 0 ? printUsd(null) : `${printUsd(usd)} and unpriced calls`;
}

// A script reads it; "<" would end the element.
function factsElement({ list, ...parts }: ReportParts): Html {
  const { questions, score, choice, actions, tomorrow } = parts;
  const facts = { questions, score, choice, actions, tomorrow };
  const json = JSON.stringify({
    ...facts,
    packSize: MailList.packSize,
    counts: list.counts.map(({ mails }) => mails),
  });
  const text = json.replaceAll("<", String.raw`\u003c`);
  return trusted(`<script type="application/json" id="facts">${text}</script>`);
}

type FilledSection = Sections["sections"][number] & { readonly at: number; readonly count: number };

function toList(groups: readonly FilledSection[], parts: ReportParts): Html {
  const { plan, list } = parts;
  return html`${plan && planSection(plan, list.length)} ${controls(groups, parts)}
    <div id="sections">${groups.map((section) => toSection(section, parts))}</div>
    <section class="part" id="found" hidden>
      <h2>Found <span class="count" id="found-count"></span></h2>
      <p class="about" id="found-status" role="status"></p>
      <ol class="mails" id="found-mails"></ol>
      <p class="turn">
        <button class="button" type="button" id="previous">Previous</button>
        <button class="button" type="button" id="next">Next</button>
      </p>
    </section>`;
}

/** Returns a table of the rules with the mails that each takes of all of them, and their promises. */
function planSection(rules: NonNullable<ReportParts["plan"]>, mails: number): Html {
  const rows = rules.map(({ rule, taken: mailCount, isPromised, promise }) => [
    html`<code>${toPrintable(rule.text)}</code>`,
    `→ ${rule.action}`,
    printCount(mailCount),
    html`<span class="${isPromised ? "promised" : "unpromised"}">${promise}</span>`,
  ]);
  const remainingCount = rules.reduce((rest, { taken: takenCount }) => rest - takenCount, mails);
  const all = [...rows, ["no rule", "stays", printCount(remainingCount), null]];
  return html`<section class="part plan" id="plan">
    <h2>The plan</h2>
    <p class="about">
      The first rule that matches a mail takes it. Nothing was done: export --rules writes the
      actions for a mail program.
    </p>
    ${table("The plan", ["rule", "action", "mails", "calibration"], all)}
  </section>`;
}

/** Returns a table of the senders with the most mails, and their links to unsubscribe. */
function sendersSection({ list, questions, score: at, tomorrow }: ReportParts): Html | null {
  const score = questions[at];
  const rows = list
    .senders(SENDERS)
    .map(({ sender, mails, mean, unsubscribe, oneClick }) => [
      html`${sender || "(no sender)"} ${unsubscribe === "" ? null : toLink(unsubscribe, oneClick)}
      ${tomorrow === null ? null : doneButton(`sender:${sender}`, sender)}`,
      printCount(mails),
      mean,
    ]);
  if (rows.length === 0) return null;
  return html`<section class="part" id="senders">
    <h2>Senders</h2>
    <p class="about">
      Those with the most mails, and the link of their newest mail to unsubscribe. A page marked
      "one click" needs no further question (RFC 8058). Triage opens none.
    </p>
    ${table("Senders", ["sender", "mails", `mean ${score?.title.toLowerCase() ?? "level"}`], rows)}
  </section>`;
}

function toLink(unsubscribe: string, oneClick: number): Html {
  const link = html`<a href="${unsubscribe}" rel="noreferrer" target="_blank">unsubscribe</a>`;
  return html`<small>${link}${oneClick ? " (one click)" : ""}</small>`;
}

/** Returns the form controls; search and selection need the script. */
function controls(groups: readonly FilledSection[], { list, score, questions }: ReportParts): Html {
  return html`<div class="card controls">
    <label class="script-only"
      >Search <input class="field" type="search" id="search" placeholder="sender, subject, words"
    /></label>
    <label class="script-only"
      >Show
      <select class="field" id="section">
        <option value="">all mails</option>
        ${list.added === 0 ? null : toChoice("new", "new mails", list.added)}
        <optgroup label="Sections">
          ${groups.map(({ at, title, count }) => toChoice(`${at}`, title, count))}
        </optgroup>
        ${questions.map((question, at) => listKinds(question, at, list.picks))}
      </select></label
    >
    <fieldset>
      <legend>Order</legend>
      ${orderChoice("urgent", score !== -1 ? "most urgent" : "surest", true)}
      ${orderChoice("newest", "newest", false)}
    </fieldset>
  </div>`;
}

/** Returns the answers to a question as choices, with the threads of all sections. */
function listKinds(question: ShownQuestion, at: number, counts: ReadonlyMap<string, number>) {
  const names = question.form === "probability" ? [`${question.title}: yes`] : question.names;
  const choices = names.flatMap((name, pick) => {
    const count = counts.get(`${at}:${pick}`);
    return count === undefined ? [] : [toChoice(`${at}:${pick}`, name, count)];
  });
  if (choices.length === 0) return null;
  return html`<optgroup label="${question.title}">${choices}</optgroup>`;
}

function toChoice(value: string, name: string, count: number): Html {
  return html`<option value="${value}">${name} (${printCount(count)})</option>`;
}

function orderChoice(value: string, text: string, isFirst: boolean): Html {
  return html`<label
    ><input
      type="radio"
      name="order"
      id="order-${value}"
      value="${value}"
      ${isFirst ? trusted("checked") : null}
    />
    ${text}</label
  >`;
}

function toSection({ at, id, title, about, count }: FilledSection, parts: ReportParts): Html {
  const rows = parts.list.first(at, ROWS_SHOWN);
  const rest = count - rows.length;
  return html`<section class="part" id="${id}">
    <h2>${toLabel(title, 70)} <span class="count">${printCount(count)}</span></h2>
    <p class="about">${about}</p>
    ${parts.tomorrow === null ? null : doneButton(`section:${at}`, title)}
    <ol class="mails">
      ${rows.map((row) => mailItem(row, parts))}
    </ol>
    ${
      rest === 0
        ? null
        : html`<p class="rest">
            ${printCount(rest)} more.
            <button type="button" class="button script-only" data-section="${at}">
              Show all ${printCount(count)}
            </button>
            <span class="no-script">${FEWER_MAILS}</span>
          </p>`
    }
  </section>`;
}
