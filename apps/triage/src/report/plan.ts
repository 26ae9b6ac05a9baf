import { toPrintable } from "evaluator-kit";
import { html, type Html } from "evaluator-kit/page";
import { printCount } from "evaluator-runs/source";
import { promiseOf, type Rule, type RunResults, takeRecord } from "evaluator-runs/results";

/** Counts the mails that each rule takes. */
export class Plan {
  readonly #rules: readonly Rule[];
  readonly #taken: number[];
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
    const left = this.#taken.reduce((rest, count) => rest - count, mails);
    const rows = this.#rules.map((rule, at) => {
      const promise = promiseOf(rule, calibration, this.#before[at] ?? 0);
      return planRow(rule, this.#taken[at] ?? 0, promise);
    });
    return planTable(rows, left);
  }
}

function planTable(rows: readonly Html[], left: number): Html {
  return html`<section class="plan" id="plan">
    <h2>The plan</h2>
    <p class="about">
      The first rule that fits takes a mail. Nothing was done: export --rules writes it for a mail
      program of yours.
    </p>
    <div class="scroll" tabindex="0">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">rule</th>
            <th scope="col">action</th>
            <th scope="col">mails</th>
            <th scope="col">calibration</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
          <tr>
            <th scope="row">no rule</th>
            <td>stays</td>
            <td>${printCount(left)}</td>
            <td></td>
          </tr>
        </tbody>
      </table>
    </div>
  </section>`;
}

function planRow(
  { text, action }: Rule,
  count: number,
  promise: ReturnType<typeof promiseOf>,
): Html {
  return html`<tr>
    <th scope="row"><code>${toPrintable(text)}</code></th>
    <td>→ ${action}</td>
    <td>${printCount(count)}</td>
    <td class="${promise.isPromised ? "promised" : "unpromised"}">${promise.text}</td>
  </tr>`;
}
