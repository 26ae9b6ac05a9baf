import { z } from "zod";
import { parseJsonAs } from "../artifact.ts";
import type { AnswerColumn } from "../input/answer-column.ts";
import { CalibrationInputError } from "../input/input-record.ts";
import type { JoinedColumn } from "../input/join-labels.ts";
import { jsonHash } from "../math/json-hash.ts";
import { createPromiseDraw } from "../thresholds/promise-draw.ts";
import { complement, toHundredths } from "../thresholds/risk-coverage.ts";
import { actionRows, toLabelledRows, topAnswers } from "./labelled-rows.ts";

const openShare = z.number().gt(0).lt(1);
const planSchema = z.object({
  version: z.literal(1),
  actions: z
    .array(
      z.object({
        question: z.string(),
        action: z.enum(["yes", "no", "top"]),
        /** The hash of the answers, see {@link promisePool}. */
        pool: z.string(),
      }),
    )
    .min(1),
  maxRisk: openShare,
  /** How sure the promises of all actions are together. */
  confidence: openShare,
  seed: z.int().min(0),
});
/** How labels are drawn one by one for a promise; it is decided before the first label. */
export type PromisePlan = z.infer<typeof planSchema>;

/** Returns a plan from the text of its file. @throws Error that names the invalid field. */
export function parsePromisePlan(text: string): PromisePlan {
  return parseJsonAs(planSchema, text, { what: "a plan of a promise", latest: 1 });
}

/** Returns the name of a plan in its labels. */
export function planId(plan: PromisePlan): string {
  return jsonHash(plan);
}

/** Returns the records that a promise is about, in the order of their ids, and the hash of their answers. */
export function promisePool(column: AnswerColumn) {
  const { ids, values, width, source } = column;
  const rows = [...ids.keys()].toSorted((one, other) =>
    (ids[one] as string) < (ids[other] as string) ? -1 : 1,
  );
  const p = topAnswers(column).probability;
  const answers = rows.map((row) => [ids[row], ...values.subarray(row * width, (row + 1) * width)]);
  return {
    column,
    rows,
    printed: Float64Array.from(rows, (row) => p[row] as number),
    hash: jsonHash(JSON.stringify([source.modelId, source.questionHash, answers])),
  };
}

/** See {@link promisePool}. */
export type PromisePool = ReturnType<typeof promisePool>;

/** A planned action, the answers that it is about, and the labels that were drawn for it so far. */
interface PlannedLabels {
  readonly plan: PromisePlan;
  readonly action: Pick<PromisePlan["actions"][number], "question" | "action">;
  readonly pool: PromisePool;
  readonly labels: JoinedColumn | undefined;
}

/**
 * Returns the draw of a planned action after its labels, in whichever order they were made. Labels of
 * records that the draw does not have, such as those of another action, do not count.
 *
 * @throws CalibrationInputError that names the first label of another plan.
 */
export function replayPlan({ plan, action: { question, action }, pool, labels }: PlannedLabels) {
  const { column, rows, printed } = pool;
  const name = planId(plan);
  for (const [other, location] of labels?.join.plans ?? []) {
    if (other === name) continue;
    const problem = "draw names another plan than the one beside the file";
    throw new CalibrationInputError(location, `${problem}; keep its labels in another file`);
  }
  const shares = plan.actions.length;
  const draw = createPromiseDraw(printed, { ...plan, action, shares });
  const surenessAt = (index: number) => {
    const p = printed[index] as number;
    return action === "no" ? complement(p) : p;
  };
  if (labels !== undefined) {
    const indexes = new Map(rows.map((row, index) => [row, index]));
    const { wrong } = actionRows(toLabelledRows(labels).tested, action);
    for (const [at, row] of labels.rows.entries()) {
      const index = indexes.get(row) as number;
      if (draw.has(index)) draw.add(index, wrong[at] === 1);
    }
  }
  return {
    plan,
    question,
    action,
    column,
    draw,
    /** The labels, also of other actions on the question. */
    labels,
    level: Number(((1 - plan.confidence) / shares).toPrecision(12)),
    /** Returns the share of all records at a threshold and above. */
    coverageAt: (threshold: number) => {
      const acted = rows.filter(
        (_, index) => toHundredths(surenessAt(index)) >= toHundredths(threshold),
      );
      return acted.length / rows.length;
    },
    /** Returns the id of the next record to label, and the field `draw` of its label; null at the end. */
    next: () => {
      const index = draw.next();
      if (index === null) return null;
      const id = column.ids[rows[index] as number] as string;
      return { id, draw: { plan: name, from: draw.from, at: surenessAt(index) } };
    },
  };
}

/** See {@link replayPlan}. */
export type PlannedPromise = ReturnType<typeof replayPlan>;
