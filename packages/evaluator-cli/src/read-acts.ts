import { AnswerColumn, CalibrationInputError, type SourceLocation } from "evaluator-calibration";
import { CliError, type CliContext, exitCodes, printable } from "evaluator-kit";
import { z } from "zod";
import { readRecords } from "./read-files.ts";

const share = z.number().min(0).max(1);
const promiseSchema = z.object({ threshold: share, maxRisk: share, confidence: share });
const lineSchema = z.object({
  id: z.string().min(1),
  question: z.string(),
  act: z.string().nullable(),
  evidence: promiseSchema.extend({ artifact: z.string(), printed: share }).optional(),
});

const about = { kind: "boolean", options: ["no", "yes"] } as const;

/**
 * The acts on one question that rest on one calibration, which is named as their model. A value is how
 * sure the answer is of its act.
 */
export class ActColumn extends AnswerColumn {
  /** By row. */
  readonly acts: string[] = [];
  /** By act; those of options and levels are the same. */
  readonly promises = new Map<string, z.infer<typeof promiseSchema>>();

  /** Whether the acts are options or levels, also if some are named yes and no. */
  isOfOptions = false;

  /** Returns 1 if the act was right, else 0. @throws CalibrationInputError if the truth must be a yes or a no. */
  override truthOf(truth: unknown, location: SourceLocation, row: number): number {
    const act = this.isOfOptions ? String(truth) : about.options[super.truthOf(truth, location)];
    return Number(act === this.acts[row]);
  }
}

/** Reads the lines that `act` printed, for a join with labels. @throws CliError if none is an act. */
export async function readActs(name: string, context: CliContext) {
  const columns = new Map<string, ActColumn>();
  const questions = new Set<string>();
  await readRecords({ name }, context, ({ line, value }) => {
    const location = { file: name, line };
    const { id, question, act, evidence } = parseLine(value, location);
    questions.add(question);
    if (act === null || evidence === undefined) return;
    const { artifact: modelId, printed, ...promise } = evidence;
    const source = { modelId, wire: null, basis: "model", questionHash: null } as const;
    const answer = { ...about, ids: [id], values: [printed], question, source };
    const key = `${modelId} ${question}`;
    const column = columns.get(key) ?? new ActColumn(answer);
    if (!column.add(answer, location, false)) {
      const problem = "is a second act on the same record and question; keep one of them";
      throw new CalibrationInputError(location, problem);
    }
    column.acts.push(act);
    column.promises.set(act, promise);
    column.isOfOptions ||= act !== "yes" && act !== "no";
    columns.set(key, column);
  });
  const table = {
    columns: [...columns.values()],
    questions: [...questions],
    clusters: new Map<string, string>(),
    // A record without a line may have been left to a person.
    knows: () => true,
  };
  if (columns.size > 0) return table;
  const problem = printable`${name} holds no act; give a file of lines that act printed.`;
  throw new CliError(problem, { exitCode: exitCodes.notEnoughEvidence });
}

function parseLine(value: unknown, location: SourceLocation) {
  const { data, error } = lineSchema.safeParse(value);
  if (data !== undefined && (data.act === null || data.evidence !== undefined)) return data;
  const field = error?.issues[0]?.path.join(".") || "evidence";
  const problem = `${field} is missing or wrong; each line is one that act printed`;
  throw new CalibrationInputError(location, problem);
}
