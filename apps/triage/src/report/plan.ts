import { toPrintable } from "evaluator-kit";
import { html, type Html, table } from "evaluator-kit/page";
import { printCount } from "evaluator-runs/source";
import {
  type AnsweredRecord,
  promiseOf,
  type Rule,
  type RunResults,
  takeRecord,
} from "evaluator-runs/results";

/** Counts the mails that each rule takes. */
export function planOf(rules: readonly Rule[]) {
  const taken = rules.map(() => 0);
  /** For each rule the mails that it meets and an earlier one takes. */
  const before = rules.map(() => 0);
  return {
    /** Returns the index of the rule that takes a mail; -1 for none. */
    take(mail: AnsweredRecord): number {
      const { taken: rule, also } = takeRecord(rules, mail);
      if (rule === null) return -1;
      taken[rule] = (taken[rule] ?? 0) + 1;
      for (const at of also) before[at] = (before[at] ?? 0) + 1;
      return rule;
    },
    /** Returns a table of the rules with the mails that each takes of all of them. */
    toHtml(calibration: RunResults["calibration"], mails: number): Html {
      const rows = rules.map((rule, at) => {
        const promise = promiseOf(rule, calibration, before[at] ?? 0);
        const look = promise.isPromised ? "promised" : "unpromised";
        return [
          html`<code>${toPrintable(rule.text)}</code>`,
          `→ ${rule.action}`,
          printCount(taken[at] ?? 0),
          html`<span class="${look}">${promise.text}</span>`,
        ];
      });
      const left = taken.reduce((rest, count) => rest - count, mails);
      const all = [...rows, ["no rule", "stays", printCount(left), null]];
      return html`<section class="plan" id="plan">
        <h2>The plan</h2>
        <p class="about">
          The first rule that fits takes a mail. Nothing was done: export --rules writes it for a
          mail program of yours.
        </p>
        ${table(["rule", "action", "mails", "calibration"], all)}
      </section>`;
    },
  };
}
