import { toPrintable, truncateCharacters } from "evaluator-kit";
import { html, type Html, table } from "evaluator-kit/page";
import { printCount, printMails } from "evaluator-runs/source";
import {
  type BaseAnswers,
  type ResultRow,
  type RunResults,
  toValues,
} from "evaluator-runs/results";
import { mailOfRecord, toState } from "../input/mail.ts";
import { addedTo } from "../input/state-fields.ts";
import { addTo } from "./mail-list.ts";
import type { ShownQuestion } from "./mail-row.ts";

const LISTED = 50;
// The least change that is reported: half a level, or 0.2 of a probability.
const LEVELS = 0.5;
const PROBABILITY = 0.2;
const EPSILON = 1e-9;

/** Compares the answers with and without the fields beyond the contract's four. */
export function compareContext(questions: readonly ShownQuestion[], results: RunResults) {
  let base: BaseAnswers | null = null;
  /** The number of mails with another answer, by the title of the question. */
  const counts = new Map<string, number>();
  let changed: ChangedMail[] = [];
  let [more, compared] = [0, 0];
  return {
    /** Compares the answers of a mail with those without its added fields. */
    async add({ kept, input }: ResultRow): Promise<void> {
      const mail = mailOfRecord(input);
      const added = addedTo(mail);
      if (kept === null || added.length === 0) return;
      more += 1;
      base ??= await results.baseAnswers();
      const before = base(toState(mail));
      if (before === null) return;
      compared += 1;
      const after = toValues(kept.answers, results.questions);
      const changes = questions
        .map((question) => changeOf(question, before[question.id], after[question.id]))
        .filter(({ size }) => size !== 0);
      if (changes.length === 0) return;
      for (const { what } of changes) addTo(counts, what);
      const size = changes.reduce((sum, change) => sum + change.size, 0);
      changed.push({ mail, added, size, changes: changes.map(({ text }) => text) });
      if (changed.length >= 20 * LISTED) changed = largestOf(changed);
    },
    /** Returns a section of the page; null if no mail has more than the four fields. */
    toHtml(): Html | null {
      if (more === 0) return null;
      const rows = largestOf(changed).map(({ mail, added, changes }) => [
        html`${short(mail.subject)} <small>${short(mail.from)}</small>`,
        changes.join(", "),
        added.map(([key, value]) => `${key} ${short(textOf(value))}`).join(", "),
      ]);
      const head = ["mail", "without → with", "what the model read more"];
      return html`<section class="part context" id="context">
        <h2>What the context changed</h2>
        <p class="about">${describe(questions, counts, { more, compared })}</p>
        ${rows.length === 0 ? null : table("What the context changed", head, rows)}
      </section>`;
    },
  };
}

interface ChangedMail {
  readonly mail: ReturnType<typeof mailOfRecord>;
  readonly added: ReturnType<typeof addedTo>;
  readonly changes: readonly string[];
  readonly size: number;
}

function largestOf(changed: readonly ChangedMail[]): ChangedMail[] {
  return changed.toSorted((one, other) => other.size - one.size).slice(0, LISTED);
}

function describe(
  questions: readonly ShownQuestion[],
  counts: ReadonlyMap<string, number>,
  { more, compared }: { readonly more: number; readonly compared: number },
): string {
  if (compared === 0) {
    return `The model read more than the four fields of ${printMails(more)}, and none of them was asked about without that. A run over the same file without --context and --state-fields shows here what it changes.`;
  }
  const changes = questions.flatMap(({ title }) => {
    const count = counts.get(title.toLowerCase());
    return count === undefined ? [] : [`${title.toLowerCase()} of ${printCount(count)}`];
  });
  const what = changes.length === 0 ? "it changed no answer" : `it changed ${changes.join(", ")}`;
  return `${printMails(compared)} were asked about with and without it: ${what}. A change is another option, half a level, or ${PROBABILITY} of a probability; the largest come first.`;
}

type Value = string | number | null | undefined;

/** Returns the change of an answer; its size is from 0 to 1, and 0 for a small change. */
function changeOf({ title, form, names }: ShownQuestion, was: Value, is: Value) {
  const what = title.toLowerCase();
  const distance = Math.abs(Number(is) - Number(was)) + EPSILON;
  const sizes = {
    option: Number(was !== is),
    probability: distance < PROBABILITY ? 0 : distance,
    number: distance < LEVELS ? 0 : distance / Math.max(1, names.length - 1),
  };
  return { what, size: sizes[form], text: `${what} ${shown(was)} → ${shown(is)}` };
}

function shown(value: Value): string {
  return typeof value === "number" ? value.toFixed(2) : toPrintable(value ?? "-");
}

// An attachment is its name here.
function textOf(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === "string" ? value : JSON.stringify(value);
  return (value as readonly { readonly name: string }[]).map(({ name }) => name).join(" and ");
}

function short(text: string): string {
  return truncateCharacters(toPrintable(text), 80);
}
