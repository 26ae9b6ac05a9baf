import { toPrintable } from "evaluator-kit";
import { html, type Html, table } from "evaluator-kit/page";
import { printCount } from "evaluator-runs/source";
import type { planOf } from "evaluator-runs/results";

/** Returns a table of the rules with the mails that each takes of all of them, and their promises. */
export function planSection(
  rules: ReturnType<ReturnType<typeof planOf>["rules"]>,
  mails: number,
): Html {
  const rows = rules.map(({ rule, taken, isPromised, promise }) => [
    html`<code>${toPrintable(rule.text)}</code>`,
    `→ ${rule.action}`,
    printCount(taken),
    html`<span class="${isPromised ? "promised" : "unpromised"}">${promise}</span>`,
  ]);
  const left = rules.reduce((rest, { taken }) => rest - taken, mails);
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
