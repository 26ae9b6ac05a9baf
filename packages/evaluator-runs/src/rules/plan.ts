import type { ActEvidence, CalibrationArtifact, LockedThreshold } from "evaluator-calibration";
import { printShare, toPrintable } from "evaluator-kit";
import { printCount } from "../amounts.ts";
import { type AnsweredRecord, meetsAll } from "./conditions.ts";
import type { Rule } from "./rules-file.ts";

/** The act that a rule asks for on a record, if it is promised. */
type RuleAct =
  | { readonly question: string; readonly act: string; readonly evidence: ActEvidence }
  | { readonly evidence: null };

/** Lets the first rule that a record meets take it, and counts the records of each rule. */
export function planOf(rules: readonly Rule[], calibration: CalibrationArtifact | null) {
  const counts = rules.map((rule) => ({ rule, taken: 0, promised: 0 }));
  return {
    /** Returns the rule that takes a record, as its index and its action, and its act; null for none. */
    take(record: AnsweredRecord) {
      const at = rules.findIndex(({ conditions }) => meetsAll(conditions, record));
      const count = counts[at];
      if (count === undefined) return null;
      const act = actOf(count.rule, record);
      count.taken += 1;
      count.promised += Number(act.evidence !== null);
      return { at, action: count.rule.action, act };
    },
    /** Returns the rules, with the number of records that each took and the promise of their acts. */
    rules: () =>
      counts.map(({ rule, taken, promised }) => ({
        rule,
        taken,
        isPromised: promised > 0 && promised === taken,
        promise: describePromise(findPromise(rule, calibration), taken, promised),
      })),
  };
}

/** Returns the one answer that a rule asks for; undefined if it asks for more or for none. */
function wantedBy({ conditions: [condition, ...others] }: Rule) {
  return others.length > 0 ? undefined : condition?.wanted;
}

function actOf(rule: Rule, { decisions }: AnsweredRecord): RuleAct {
  const { question = "", acts = [] } = wantedBy(rule) ?? {};
  const decision = decisions[question];
  const isWanted = decision != null && decision.act !== null && acts.includes(decision.act);
  return isWanted ? { question, ...decision } : { evidence: null };
}

/** Returns the threshold that promises the acts of a rule, or in words why there is none. */
function findPromise(rule: Rule, calibration: CalibrationArtifact | null) {
  if (calibration === null) return "there is no calibration (--calibration)";
  if (rule.conditions.length > 1) {
    return "a calibration promises one answer alone, and this rule asks for more";
  }
  const wanted = wantedBy(rule) ?? null;
  if (wanted === null)
    return "a calibration promises a yes, a no, or the likeliest option or level";
  const locked = calibration.thresholds.find(
    ({ question, action }) =>
      question === wanted.question && (action === "top" || wanted.acts.includes(action)),
  );
  return locked ?? `its labels promise no threshold of ${toPrintable(wanted.question)}`;
}

function describePromise(locked: LockedThreshold | string, taken: number, promised: number) {
  if (typeof locked === "string") return `not promised: ${locked}`;
  const { question, action, threshold, maxRisk, confidence, n, wrong } = locked;
  const answers = `${action === "top" ? "" : `"${action}" `}answers to ${toPrintable(question)}`;
  const share = `at most ${printShare(maxRisk)} of all ${answers} printed at ${threshold.toFixed(2)} and above are wrong`;
  const basis = `with ${printShare(confidence)} confidence (${printCount(wrong)} of ${printCount(n)} labels)`;
  const part = promised < taken ? ` for ${printCount(promised)} of ${printCount(taken)}` : "";
  const head = promised === 0 ? "not promised for any of them" : `promised${part}`;
  return `${head}: ${share}, ${basis}`;
}
