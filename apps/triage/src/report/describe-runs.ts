import { toPrintable } from "evaluator-kit";
import type { CalibrationArtifact } from "evaluator-calibration";
import type { RunInfo } from "evaluator-runs/postgres";
import { printCount, printDuration, printMails, printUsd } from "evaluator-runs/source";
import { isEmulator, type RunFacts } from "evaluator-runs/results";

/** Returns what a run in PostgreSQL came to, as a journal in a file keeps it. */
export function factsOf(info: RunInfo): RunFacts {
  const { setup, records, asked, failed, inputTokens, costUsd, createdAt, finishedAt } = info;
  const endedAt = finishedAt ?? new Date();
  return {
    finishedAt: endedAt.toISOString(),
    wire: setup.wire,
    modelId: setup.modelId,
    mails: records,
    answered: asked,
    failed,
    inputTokens,
    costUsd,
    elapsedMs: endedAt.getTime() - createdAt.getTime(),
  };
}

/** How many mails a page is made from. */
export interface MailCounts {
  readonly mails: number;
  readonly failed: number;
}

/** Returns in one line what answered, when, for how much, and what its numbers are worth. */
export function describeBasis(
  runs: readonly RunFacts[],
  calibration: CalibrationArtifact | null,
  { mails, failed }: MailCounts,
): string {
  const last = runs.at(-1);
  const answered = `${printCount(mails - failed)} of ${printMails(mails)}`;
  const worth = describeWorth(calibration);
  if (last === undefined) return `${answered} answered; no run has gone through yet. ${worth}`;
  const engine = isEmulator(last.wire) ? " (recordings or matching words, not a model)" : "";
  const day = last.finishedAt.slice(0, 16).replace("T", " ");
  const who = toPrintable(`${last.modelId} through ${last.wire}`) + engine;
  return `${who} answered ${answered}, last on ${day} UTC, for ${costOf(runs)}. ${worth}`;
}

function describeWorth(calibration: CalibrationArtifact | null): string {
  if (calibration === null) {
    return "Not calibrated: nobody has checked here whether the probabilities hold (triage label, evaluator calibrate).";
  }
  const { model, fittedOn } = calibration;
  const name = toPrintable(model.id ?? "a model without a name");
  return `Calibrated on ${printCount(fittedOn.n)} labels for ${name}.`;
}

// Where nobody says what an engine costs, the sum is of the other runs.
function costOf(runs: readonly RunFacts[]): string {
  const usd = runs.reduce((total, { costUsd }) => total + costUsd, 0);
  if (!runs.some(({ isUnpriced }) => isUnpriced)) return printUsd(usd);
  return usd === 0 ? "no known price" : `${printUsd(usd)} and what has no known price`;
}

/** Returns what all runs came to, as names and values. */
export function figuresOf(
  runs: readonly RunFacts[],
  { mails, failed }: MailCounts,
): (readonly [name: string, value: string])[] {
  const sum = (fact: "inputTokens" | "elapsedMs" | "answered") =>
    runs.reduce((total, run) => total + run[fact], 0);
  return [
    ["Mails", printCount(mails)],
    ["Without answer", printCount(failed)],
    ["Calls", printCount(sum("answered"))],
    ["Input tokens", printCount(sum("inputTokens"))],
    ["Cost", costOf(runs)],
    ["Time asking", printDuration(sum("elapsedMs"))],
  ];
}
