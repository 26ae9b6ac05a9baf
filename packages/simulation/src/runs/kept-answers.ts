import type { Evaluation } from "evaluator-client";
import { answersTo } from "../service/answer.ts";
import type { World } from "../world.ts";
import { idOf } from "./mail-source.ts";
import { target } from "./program.ts";

/** A record of a run, as its store or its results have it. */
export interface KeptRecord {
  readonly id: string;
  /** The state as JSON. */
  readonly state: string;
  /** The evaluation as JSON; null without an answer. */
  readonly evaluation: string | null;
  readonly error: string | null;
}

/**
 * Checks that each record has the answer to its own state, in order, and its end if the run is
 * complete; returns the cost of the answers in US dollars.
 */
export function checkKept(
  world: World,
  where: string,
  {
    records,
    isComplete,
  }: { readonly records: readonly KeptRecord[]; readonly isComplete: boolean },
): number {
  const { checks, service } = world;
  let costUsd = 0;
  for (const [index, { id, state, evaluation, error }] of records.entries()) {
    checks.expect("order", id === idOf(index), () => `${id} is record ${index} of ${where}`);
    const hasEnd = evaluation !== null || error !== null || !isComplete;
    checks.expect("nothing-lost", hasEnd, () => `${id} has no end in ${where}`);
    if (evaluation === null) continue;
    const { answers, requestId, costUsd: toldUsd } = JSON.parse(evaluation) as Evaluation;
    const isRight = JSON.stringify(answers) === JSON.stringify(answersTo({ state, ...target }));
    checks.expect("nothing-wrong", isRight, () => `${id} has another answer in ${where}`);
    const countedUsd = service.costs.get(requestId ?? "")?.usd;
    const isCounted = countedUsd !== undefined && isSame(countedUsd, toldUsd ?? 0);
    checks.expect("money", isCounted, () => `${toldUsd} and not ${countedUsd} dollars for ${id}`);
    costUsd += countedUsd ?? 0;
  }
  return costUsd;
}

/** Checks the file of results: whole, in order, and with the answers that the store has. */
export function checkResults(
  world: World,
  text: string,
  records: readonly KeptRecord[] | null,
): void {
  const { checks, secrets } = world;
  secrets.check("the results", text);
  const rows = parse(text);
  checks.expect(
    "nothing-lost",
    rows !== null,
    () => `the results are cut after ${text.length} bytes`,
  );
  for (const [index, { id, spam }] of (rows ?? []).entries()) {
    checks.expect("order", id === idOf(index), () => `${id} is result ${index}`);
    const kept = records?.[index]?.evaluation ?? null;
    const answers = kept === null ? null : (JSON.parse(kept) as Evaluation).answers;
    const expected = answers?.["spam"] as { probability: number } | undefined;
    const isKept = expected === undefined || expected.probability === spam;
    checks.expect("nothing-lost", isKept, () => `the answer about ${id} is not in the results`);
  }
  if (records === null || rows === null) return;
  const isWhole = rows.length === records.length;
  checks.expect(
    "nothing-lost",
    isWhole,
    () => `${rows.length} results of ${records.length} records`,
  );
}

function parse(text: string): { readonly id: string; readonly spam: number | null }[] | null {
  try {
    return JSON.parse(text) as ReturnType<typeof parse>;
  } catch {
    return null;
  }
}

/** Returns whether two amounts are the same but for rounding. */
export function isSame(oneUsd: number, otherUsd: number): boolean {
  return Math.abs(oneUsd - otherUsd) < 1e-9;
}
