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
export function reportSteps(
  answerTable: Pick<AnswerTable, "steps">,
  labelJoin: LabelJoin,
): StepReport[] {
  return Array.from(answerTable.steps, ([question, steps]) =>
    steps.map((columns, stepIndex) => {
      const laterColumns = steps.slice(stepIndex + 1).flat();
      const isFinal = (recordId: string) =>
        laterColumns.every((laterColumn) => laterColumn.rowOf(recordId) === undefined);
      const truthCounts = columns.map((column) => countTruths(labelJoin, { column, isFinal }));
      const sumColumns = (countColumn: (column: AnswerColumn) => number) =>
        columns.reduce((runningTotal, column) => runningTotal + countColumn(column), 0);
      return {
        question,
        step: stepIndex + 1,
        modelId: columns[0]?.source.modelId ?? null,
        asked: sumColumns(({ ids }) => ids.length),
        answered: sumColumns(({ ids }) => ids.filter(isFinal).length),
        labelled: truthCounts.reduce(
          (runningTotal, { labelled: labelledCount }) => runningTotal + labelledCount,
          0,
        ),
        wrong: truthCounts.reduce((runningTotal, { wrong }) => runningTotal + wrong, 0),
      };
    }),
  ).flat();
}

/** Counts the labelled and the wrong answers of a column that no later model replaced. */
function countTruths(
  labelJoin: LabelJoin,
  { column, isFinal }: { column: AnswerColumn; isFinal: (id: string) => boolean },
) {
  const truthCounts = { labelled: 0, wrong: 0 };
  const joinedColumn = labelJoin.columns.find((candidate) => candidate.column === column);
  if (joinedColumn === undefined) return truthCounts;
  const { option } = topAnswers(column);
  for (const [position, columnRow] of joinedColumn.rows.entries()) {
    const trueOption = joinedColumn.truth[position] as number;
    if (trueOption < 0 || !isFinal(column.ids[columnRow] as string)) continue;
    truthCounts.labelled += 1;
    if (option[columnRow] !== trueOption) truthCounts.wrong += 1;
  }
  return truthCounts;
}
