import type { PrintedEvaluation } from "./apply-artifact.ts";
import { type AskedQuestions, questionHash } from "./kinds.ts";

/** An evaluation of the client, which names the service too. */
type AnsweredEvaluation = PrintedEvaluation & {
  readonly printed?: PrintedEvaluation["answers"];
  readonly transport: string;
  readonly rounding: object;
  readonly headers?: object;
  readonly steps?: readonly {
    readonly answers: PrintedEvaluation["answers"];
    readonly modelId: string | null;
    readonly transport: string;
  }[];
};

/**
 * Returns an evaluation as one line of a file of answers, with the hash of its questions: for
 * `AnswerTable`, {@link decide} and the commands that read answers.
 *
 * @example appendFileSync("answers.ndjson", `${JSON.stringify(toAnswerRecord(id, evaluation, questions))}\n`)
 */
export function toAnswerRecord<TEvaluation extends AnsweredEvaluation>(
  id: string,
  evaluation: TEvaluation,
  questions: AskedQuestions,
) {
  const {
    answers,
    printed: printedFields = answers,
    modelId,
    transport,
    rounding,
    headers = {},
  } = evaluation;
  const { route, steps }: AnsweredEvaluation = evaluation;
  const toWire = (transportName: string) =>
    "x-evaluator-emulator" in headers ? `emulator ${transportName}` : transportName;
  const toStep = ({ transport, ...answeredStep }: NonNullable<typeof steps>[number]) => ({
    answers: answeredStep.answers,
    modelId: answeredStep.modelId,
    wire: toWire(transport),
  });
  return {
    id,
    answers: printedFields as TEvaluation["answers"],
    modelId,
    wire: toWire(transport),
    questionHash: questionHash(questions),
    rounding: rounding as TEvaluation["rounding"],
    ...(route !== undefined && { route }),
    ...(steps !== undefined && { steps: steps.map(toStep) }),
  };
}
