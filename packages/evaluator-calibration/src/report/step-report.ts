import type { AnswerTable } from "../input/answer-table.ts";
import type { AnswerColumn } from "../input/answer-column.ts";
import type { LabelJoin } from "../input/join-labels.ts";
import { topAnswers } from "./labelled-rows.ts";

/** What one of several models that were asked one after the other did about a question. */
export interface StepReport {
  readonly question: string;
  /** From 1. */
  readonly step: number;
  readonly modelId: string | null;
  /** The records that it was asked about, and those whose answer is its own in the end. */
  readonly asked: number;
  readonly answered: number;
  /** Of those: the labelled ones, and the wrong ones among these, by the most probable side, option or level. */
  readonly labelled: number;
  readonly wrong: number;
}

/** Returns what each model did about each question, if several were asked one after the other. */
export function reportSteps(table: Pick<AnswerTable, "steps">, join: LabelJoin): StepReport[] {
  return Array.from(table.steps, ([question, steps]) =>
    steps.map((columns, at) => {
      const later = steps.slice(at + 1).flat();
      const isFinal = (id: string) => later.every((column) => column.rowOf(id) === undefined);
      const truths = columns.map((column) => countTruths(join, { column, isFinal }));
      const sum = (count: (column: AnswerColumn) => number) =>
        columns.reduce((total, column) => total + count(column), 0);
      return {
        question,
        step: at + 1,
        modelId: columns[0]?.source.modelId ?? null,
        asked: sum(({ ids }) => ids.length),
        answered: sum(({ ids }) => ids.filter(isFinal).length),
        labelled: truths.reduce((total, { labelled: labelledCount }) => total + labelledCount, 0),
        wrong: truths.reduce((total, { wrong }) => total + wrong, 0),
      };
    }),
  ).flat();
}

/** Counts the labelled and the wrong answers of a column that no later model replaced. */
function countTruths(
  join: LabelJoin,
  { column, isFinal }: { column: AnswerColumn; isFinal: (id: string) => boolean },
) {
  const counts = { labelled: 0, wrong: 0 };
  const joinedColumn = join.columns.find((one) => one.column === column);
  if (joinedColumn === undefined) return counts;
  const { option: top } = topAnswers(column);
  for (const [at, row] of joinedColumn.rows.entries()) {
    const truth = joinedColumn.truth[at] as number;
    if (truth < 0 || !isFinal(column.ids[row] as string)) continue;
    counts.labelled += 1;
    if (top[row] !== truth) counts.wrong += 1;
  }
  return counts;
}
