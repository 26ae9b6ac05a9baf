import type { Questions } from "evaluator-client";
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
import type { ShownQuestion } from "./mail-row.ts";

const LISTED = 50;
// The least change that is reported: half a level, or 0.2 of a probability.
const LEVELS = 0.5;
const PROBABILITY = 0.2;
const EPSILON = 1e-9;

/** A mail whose answers changed, and how far. */
interface ChangedMail {
  readonly from: string;
  readonly subject: string;
  readonly added: ReturnType<typeof addedTo>;
  readonly changes: readonly string[];
  readonly size: number;
}

/** Compares the answers with and without the fields beyond the contract's four. */
export class ContextChanges {
  readonly #questions: readonly ShownQuestion[];
  readonly #asked: Questions;
  readonly #find: RunResults["baseAnswers"];
  #base: BaseAnswers | null = null;
  readonly #counts: number[];
  #changed: ChangedMail[] = [];
  #more = 0;
  #compared = 0;

  constructor(
    shown: readonly ShownQuestion[],
    { questions, baseAnswers }: Pick<RunResults, "questions" | "baseAnswers">,
  ) {
    this.#questions = shown;
    this.#asked = questions;
    this.#find = baseAnswers;
    this.#counts = shown.map(() => 0);
  }

  /** Compares the answers of a mail with those without its added fields. */
  async add(row: ResultRow): Promise<void> {
    if (row.kept === null) return;
    const mail = mailOfRecord(row.input);
    const added = addedTo(mail);
    if (added.length === 0) return;
    this.#more += 1;
    this.#base ??= await this.#find();
    const before = this.#base(toState(mail));
    if (before === null) return;
    this.#compared += 1;
    const after = toValues(row.kept.answers, this.#asked);
    const changes: string[] = [];
    let size = 0;
    for (const [at, question] of this.#questions.entries()) {
      const [was, is] = [before[question.id], after[question.id]];
      const distance = distanceOf(was, is, question);
      if (distance === 0) continue;
      this.#counts[at] = (this.#counts[at] ?? 0) + 1;
      size += distance;
      changes.push(`${question.title.toLowerCase()} ${shown(was)} → ${shown(is)}`);
    }
    const { from, subject } = mail;
    if (changes.length > 0) this.#keep({ from, subject, added, changes, size });
  }

  /** Returns a section of the page; null if no mail has more than the four fields. */
  toHtml(): Html | null {
    if (this.#more === 0) return null;
    return html`<section class="context" id="context">
      <h2>What the context changed</h2>
      <p class="about">${this.#describe()}</p>
      ${this.#changed.length === 0 ? null : tableOf(this.#changed.toSorted(bySize).slice(0, LISTED))}
    </section>`;
  }

  #keep(mail: ChangedMail): void {
    this.#changed.push(mail);
    if (this.#changed.length < 20 * LISTED) return;
    this.#changed = this.#changed.toSorted(bySize).slice(0, LISTED);
  }

  #describe(): string {
    if (this.#compared === 0) {
      return `The model read more than the four fields of ${printMails(this.#more)}, and none of them was asked about without that. A run over the same file without --context and --state-fields shows here what it changes.`;
    }
    const counts = this.#questions.flatMap(({ title }, at) => {
      const count = this.#counts[at] ?? 0;
      return count === 0 ? [] : [`${title.toLowerCase()} of ${printCount(count)}`];
    });
    const what = counts.length === 0 ? "it changed no answer" : `it changed ${counts.join(", ")}`;
    return `${printMails(this.#compared)} were asked about with and without it: ${what}. A change is another option, half a level, or ${PROBABILITY} of a probability; the largest come first.`;
  }
}

function bySize(one: ChangedMail, other: ChangedMail): number {
  return other.size - one.size;
}

type Value = string | number | null | undefined;

/** Returns the distance between two answers, from 0 to 1; 0 for a small change. */
function distanceOf(was: Value, is: Value, { form, names }: ShownQuestion): number {
  if (form === "option") return was === is ? 0 : 1;
  const distance = Math.abs(Number(is) - Number(was)) + EPSILON;
  if (form === "probability") return distance < PROBABILITY ? 0 : distance;
  return distance < LEVELS ? 0 : distance / Math.max(1, names.length - 1);
}

function shown(value: Value): string {
  return typeof value === "number" ? value.toFixed(2) : toPrintable(value ?? "-");
}

function tableOf(mails: readonly ChangedMail[]): Html {
  const rows = mails.map(({ from, subject, added, changes }) => [
    html`${short(subject)} <small>${short(from)}</small>`,
    changes.join(", "),
    added.map(([key, value]) => `${key} ${short(textOf(value))}`).join(", "),
  ]);
  return table(["mail", "without → with", "what the model read more"], rows);
}

// An attachment is its name here.
function textOf(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === "string" ? value : JSON.stringify(value);
  return (value as readonly { readonly name: string }[]).map(({ name }) => name).join(" and ");
}

function short(text: string): string {
  return truncateCharacters(toPrintable(text), 80);
}
