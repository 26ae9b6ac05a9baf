import { AnswerTable, LabelJoin, reportSteps } from "evaluator-calibration/reports";
import { describeWrong, joinLabels } from "evaluator-runs/label";
import { readLines, findRoutedAnswers } from "./read-records.ts";

/**
 * Returns in one sentence how many labelled answers of each service are wrong, for calls in which one may be
 * asked again; a label's id is that of the request.
 *
 * @throws CliError for a file that cannot be read, or has no labels.
 */
export async function countWrongAnswers(
  labelsPath: string,
  logPath: string,
  signal: AbortSignal,
): Promise<string> {
  const table = new AnswerTable({ last: true });
  for await (const logLine of readLines(logPath, "the decision log ")) {
    const loggedCall = findRoutedAnswers(logLine);
    if (loggedCall !== null) table.addRecord({ line: 0, value: toSteps(loggedCall) }, logPath);
  }
  const join = new LabelJoin(table, { last: true, allowUnknown: true, questions: table.questions });
  await joinLabels(labelsPath, join, signal);
  const advice =
    "The log has no answers to these messages. Answers are logged only with ROUTER_LOG_TEXT=on.";
  return describeWrong(reportSteps(table, join)) ?? advice;
}

type RoutedAnswers = NonNullable<ReturnType<typeof findRoutedAnswers>>;

/** Returns a record with the answers that each service gave in the end. */
function toSteps({ requestId: id, answers, route }: RoutedAnswers) {
  const lastStep = Math.max(1, ...Object.values(route).map(({ step }) => step));
  const steps = Array.from({ length: lastStep }, (_, at) => {
    const own = Object.entries(answers).filter(([one]) => (route[one]?.step ?? 1) === at + 1);
    const stepModel = own.map(([one]) => route[one]?.model).find((name) => name !== undefined);
    return { answers: Object.fromEntries(own), modelId: stepModel ?? null };
  });
  return { id, answers, steps };
}
