import { AnswerColumn, CalibrationInputError, type SourceLocation } from "evaluator-calibration";
import { CliError, type CliContext, exitCodes, printable } from "evaluator-kit";
import { readRecords } from "./read-files.ts";

/** The fields of an act that are read. */
interface ActLine {
  readonly id: string;
  readonly question: string;
  readonly act: string | null;
  readonly evidence: Readonly<Record<(typeof shares)[number], number>> & {
    readonly artifact: string;
  };
}

const shares = ["printed", "threshold", "maxRisk", "confidence"] as const;

const about = { kind: "boolean", options: ["no", "yes"] } as const;

/**
 * The acts on one question that rest on one calibration, which is named as their model. A value is how
 * sure the answer is of its act.
 */
export class ActColumn extends AnswerColumn {
  /** By row. */
  readonly acts: string[] = [];
  /** By act; those of options and levels are the same. */
  readonly promises = new Map<string, ActLine["evidence"]>();

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
  await readRecords(name, context, ({ line, value }) => {
    const location = { file: name, line };
    const { id, question, act, evidence } = checkLine(value, location);
    questions.add(question);
    if (act === null) return;
    const { artifact: modelId, printed } = evidence;
    const source = { modelId, wire: null, basis: "model", questionHash: null } as const;
    const answer = { ...about, ids: [id], values: [printed], question, source };
    const key = `${modelId} ${question}`;
    const column = columns.get(key) ?? new ActColumn(answer);
    if (!column.add(answer, location, false)) {
      const problem = "is a second act on the same record and question; keep one of them";
      throw new CalibrationInputError(location, problem);
    }
    column.acts.push(act);
    column.promises.set(act, evidence);
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

/** @throws CalibrationInputError that names the wrong field. */
function checkLine(value: unknown, location: SourceLocation): ActLine {
  const line = Object(value) as ActLine;
  const field = wrongFieldOf(line);
  if (field === null) return line;
  const problem = `${field} is missing or wrong; each line is one that act printed`;
  throw new CalibrationInputError(location, problem);
}

// By hand: a schema takes a second for a million lines.
function wrongFieldOf({ id, question, act, evidence }: ActLine): string | null {
  if (typeof id !== "string" || id === "") return "id";
  if (typeof question !== "string") return "question";
  if (act === null) return null;
  if (typeof act !== "string") return "act";
  if (typeof evidence?.artifact !== "string") return "evidence";
  const isShare = (name: (typeof shares)[number]) => evidence[name] >= 0 && evidence[name] <= 1;
  const wrong = shares.find((name) => typeof evidence[name] !== "number" || !isShare(name));
  return wrong === undefined ? null : `evidence.${wrong}`;
}
