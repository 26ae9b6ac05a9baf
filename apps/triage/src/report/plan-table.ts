import { toPrintable } from "evaluator-kit";
import { html, type Html } from "evaluator-kit/page";
import { printCount } from "evaluator-runs/source";
import type { Rule, RulePromise } from "evaluator-runs/results";

/** A rule, how many mails it takes, and whether that was promised. */
export interface PlannedRule extends Rule {
  readonly count: number;
  readonly promise: RulePromise;
}

/** Returns what rules would do with so many mails: each rule with what it takes, and what is left. */
export function planTable(plan: readonly PlannedRule[], mails: number): Html {
  const left = mails - plan.reduce((sum, { count }) => sum + count, 0);
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
          ${plan.map(planRow)}
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

function planRow({ text, action, count, promise }: PlannedRule): Html {
  return html`<tr>
    <th scope="row"><code>${toPrintable(text)}</code></th>
    <td>→ ${action}</td>
    <td>${printCount(count)}</td>
    <td class="${promise.isPromised ? "promised" : "unpromised"}">${promise.text}</td>
  </tr>`;
}
