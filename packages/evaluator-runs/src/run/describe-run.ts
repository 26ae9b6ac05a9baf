import { describeSteps, printCount, printDuration } from "../amounts.ts";
import type { StepFacts } from "../run-facts.ts";

/** What a run did until its end. */
interface RunSummary {
  /** How the line begins. */
  readonly subject: string;
  readonly answered: number;
  /** How many of them this machine answered. @default all, as no other machine can */
  readonly answeredHere?: number;
  /** Further counts with what they count; zeros are left out. */
  readonly counts: readonly (readonly [number, string])[];
  /** A sentence about the place of the answers. @default none */
  readonly place?: string;
  readonly inputTokens: number;
  /** The cost, for people. */
  readonly cost: string;
  /** How long this machine worked, in milliseconds. */
  readonly elapsedMs: number;
  /** What each of two engines did on this machine. */
  readonly steps: readonly StepFacts[];
}

/** Returns a line with the counts, tokens, cost and time of a run, and a line for each of two engines. */
export function describeRun(summary: RunSummary): string {
  const { subject, answered: answeredCount, answeredHere = answeredCount, place } = summary;
  const isWhole = answeredHere === answeredCount;
  const notes = summary.counts
    .filter(([count]) => count > 0)
    .map(([count, countNoun]) => `, ${printCount(count)} ${countNoun}`);
  const answeredText = `${subject}: ${printCount(answeredCount)}${isWhole ? "" : `, ${printCount(answeredHere)} of them here`}`;
  const usage = `${printCount(summary.inputTokens)} tokens, ${summary.cost}`;
  const hereText = summary.answeredHere === undefined ? "" : " here";
  const duration = printDuration(summary.elapsedMs) + hereText;
  const sentences = [`${answeredText}${notes.join("")}`, place ?? [], `Took ${usage}, ${duration}`];
  const stepLines = describeSteps(summary.steps);
  return [
    `${sentences.flat().join(". ")}.\n`,
    ...stepLines.map((stepLine) => `${isWhole ? "" : "Here: "}${stepLine}\n`),
  ].join("");
}
