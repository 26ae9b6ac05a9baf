import { createReadStream } from "node:fs";
import { AnswerTable, type InputRecord } from "evaluator-calibration/reports";
import { answerSchema } from "evaluator-client";
import { CliError, isRecord, printable } from "evaluator-kit";
import { z } from "zod";
import type { findDecider } from "./calibration.ts";
import { toInputError } from "./input/input-error.ts";
import { readTable, TableError } from "./input/read-table.ts";

/** The answers about a record; with a question, only that one is printed. */
export interface ActRow {
  readonly input: {
    readonly id: string;
    readonly question?: string;
    /** All ids that labels may have. @default id */
    readonly names?: readonly string[];
  };
  readonly kept: Parameters<ReturnType<typeof findDecider>["decide"]>[0];
  /** The state that the journal keeps; a file of answers has none. */
  readonly keptState?: unknown;
}

const name = z.string().nullable().default(null);
const answersSchema = z.object({
  id: z.string().min(1),
  answers: z.record(z.string(), answerSchema),
  modelId: name,
  questionHash: name,
  route: z.record(z.string(), z.object({ step: z.int(), modelId: name })).optional(),
  steps: z.array(z.object({ modelId: name })).optional(),
});

/** Reads a file of answers in each form that `calibrate` takes. */
export async function* answerRows(path: string, signal: AbortSignal): AsyncGenerator<ActRow> {
  const ids = new Set<string>();
  try {
    for await (const records of readTable(createReadStream(path, { signal }))) {
      for (const record of records) {
        if ("problem" in record) throw new TableError(record.line, record.problem);
        const where = printable`line ${String(record.line)} of ${path}`;
        const row = answersIn(record, path);
        if (row === null) {
          const problem = `The file has no journal beside it, and ${where} is no record of answers`;
          throw new CliError(`${problem}, as toAnswerRecord returns it; start a run first.`);
        }
        if (row === "none") continue;
        for (const key of listKeys(row)) {
          if (ids.size === ids.add(key).size)
            throw new CliError(`The id in ${where} is repeated; keep one of its lines.`);
        }
        yield row;
      }
    }
  } catch (error) {
    throw toInputError(error, path);
  }
}

/** Returns a key of a row and of each of its answers: a line may hold all answers about a record, or one. */
function listKeys({ input: { id, question = "" }, kept: evaluation }: ActRow): Set<string> {
  const questions = Object.keys(evaluation?.answers ?? {});
  return new Set([question, ...questions].map((one) => JSON.stringify([id, one])));
}

/** Returns the answers of a record, which is read as `calibrate` does if it is not of `toAnswerRecord`; null if it holds none. */
function answersIn({ line, value }: InputRecord, path: string): ActRow | "none" | null {
  const { data } = answersSchema.safeParse(value);
  if (data !== undefined) return { input: data, kept: withHash(data) };
  const isOfAnswers =
    isRecord(value) && ["question", "answers", "requestId"].some((name) => name in value);
  if (!isOfAnswers) return null;
  const table = new AnswerTable();
  table.addRecord({ line, value }, path);
  const { id: ownId, requestId, evaluationId, question = "tier" } = value;
  const names = [ownId, requestId, evaluationId].flatMap((name) =>
    typeof name === "string" || typeof name === "number" ? [String(name)] : [],
  );
  const [id = ""] = names;
  const input = { id, names, ...("answers" in value ? {} : { question: String(question) }) };
  const [first] = table.columns;
  if (first === undefined)
    return table.knows(id) || "answers" in value ? { input, kept: null } : "none";
  const { modelId, questionHash } = first.source;
  const answers = Object.fromEntries(
    table.columns.map((column) => [column.question, toAnswer(column)]),
  );
  return { input, kept: withHash({ answers, modelId, questionHash }) };
}

/** Leaves out a missing hash: the questions are those that the calibration was told with --questions. */
function withHash<TEvaluation extends { readonly questionHash: string | null }>({
  questionHash,
  ...evaluation
}: TEvaluation) {
  return { ...evaluation, ...(questionHash !== null && { questionHash }) };
}

function toAnswer({ form, kind, options, values }: AnswerTable["columns"][number]) {
  if (form === "probability") return { type: kind, probability: values[0] as number };
  const shares = options.map((option, at) => [option, values[at] as number] as const);
  return { type: kind, probabilities: Object.fromEntries(shares) };
}
