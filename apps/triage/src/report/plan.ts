import { toPrintable } from "evaluator-kit";
import { html, type Html, table } from "evaluator-kit/page";
import { printCount } from "evaluator-runs/source";
import { promiseOf, type Rule, type RunResults, takeRecord } from "evaluator-runs/results";

/** Counts the mails that each rule takes. */
export class Plan {
  readonly #rules: readonly Rule[];
  readonly #taken: number[];
  /** For each rule the mails that it meets and an earlier one takes. */
  readonly #before: number[];

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#taken = rules.map(() => 0);
    this.#before = rules.map(() => 0);
  }

  /** Returns the index of the rule that takes a mail; -1 for none. */
  take(mail: Parameters<typeof takeRecord>[1]): number {
    const { taken, also } = takeRecord(this.#rules, mail);
    if (taken === null) return -1;
    this.#taken[taken] = (this.#taken[taken] ?? 0) + 1;
    for (const at of also) this.#before[at] = (this.#before[at] ?? 0) + 1;
    return taken;
  }

  /** Returns a table of the rules with the mails that each takes of all of them. */
  toHtml(calibration: RunResults["calibration"], mails: number): Html {
    const rows = this.#rules.map((rule, at) => {
      const promise = promiseOf(rule, calibration, this.#before[at] ?? 0);
      const look = promise.isPromised ? "promised" : "unpromised";
      return [
        html`<code>${toPrintable(rule.text)}</code>`,
        `→ ${rule.action}`,
        printCount(this.#taken[at] ?? 0),
        html`<span class="${look}">${promise.text}</span>`,
      ];
    });
    const left = this.#taken.reduce((rest, count) => rest - count, mails);
    const all = [...rows, ["no rule", "stays", printCount(left), null]];
    return html`<section class="plan" id="plan">
      <h2>The plan</h2>
      <p class="about">
        The first rule that fits takes a mail. Nothing was done: export --rules writes it for a mail
        program of yours.
      </p>
      ${table(["rule", "action", "mails", "calibration"], all)}
    </section>`;
  }
}
