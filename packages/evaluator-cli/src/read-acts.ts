import {
  AnswerColumn,
  CalibrationInputError,
  type InputRecord,
  type SourceLocation,
} from "evaluator-calibration/reports";
import { type CliContext, printable, tooLittleEvidence } from "evaluator-kit";
import { readRecords } from "./read-files.ts";

interface Act {
  readonly id: string;
  readonly act: string;
  readonly evidence: Readonly<Record<(typeof shareNames)[number], number>> & {
    readonly artifact: string;
  };
}

/** The fields of a line that are read. */
type ActLine = Omit<Act, "act"> & { readonly question: string; readonly act: string | null };

const shareNames = ["printed", "threshold", "maxRisk", "confidence"] as const;

const actForm = { kind: "boolean", options: ["no", "yes"] } as const;

/**
 * The acts on one question that rest on one calibration, which is named as their model. A value is how
 * sure the answer is of its act.
 */
class ActColumn extends AnswerColumn {
  /** The ids of all acts, also of those without a row. */
  readonly #actedOn = new Set<string>();
  /** By row. */
  readonly acts: string[] = [];
  /** By act: its promise (those of options and levels are the same), and the printed values of its records that did not make it. */
  readonly promises = new Map<string, { evidence: ActLine["evidence"]; printed: number[] }>();

  /** Whether the acts are options or levels, also if some are named yes and no. */
  isOfOptions = false;

  constructor(question: string, artifact: string) {
    const source = { modelId: artifact, wire: null, basis: "model", questionHash: null } as const;
    super({ ...actForm, ids: [], values: [], question, source });
  }

  /** Adds an act, as a row if it is wanted. @throws CalibrationInputError if it is the second on a record. */
  addAct(
    { id, act, evidence }: Act,
    location: SourceLocation,
    { isWanted, isFitted }: Required<ReadActsOptions>,
  ): void {
    const { size: sizeBefore } = this.#actedOn;
    if (this.#actedOn.add(id).size === sizeBefore) {
      const problem = "is a second act on a record and question; keep one";
      throw new CalibrationInputError(location, problem);
    }
    const printedValues = this.promises.get(act)?.printed ?? [];
    if (!isFitted(id)) printedValues.push(evidence.printed);
    this.promises.set(act, { evidence, printed: printedValues });
    this.isOfOptions ||= act !== "yes" && act !== "no";
    if (!isWanted(id)) return;
    const { question, source } = this;
    this.add(
      { ...actForm, ids: [id], values: [evidence.printed], question, source },
      location,
      false,
    );
    this.acts.push(act);
  }

  /** Returns 1 if the act was right, else 0. @throws CalibrationInputError if the truth must be a yes or a no. */
  override truthOf(truth: unknown, location: SourceLocation, row: number): number {
    const act = this.isOfOptions ? String(truth) : actForm.options[super.truthOf(truth, location)];
    return Number(act === this.acts[row]);
  }
}

interface ReadActsOptions {
  /** Whether an act becomes a row. @default all */
  readonly isWanted?: (id: string) => boolean;
  /** Whether a label of the record made the promise. @default none */
  readonly isFitted?: (id: string) => boolean;
}

/**
 * Reads the lines that `act` printed, for a join with labels.
 *
 * @throws CliError if none is an act.
 */
export async function readActs(
  actsFileName: string,
  context: CliContext,
  { isWanted = () => true, isFitted = () => false }: ReadActsOptions = {},
) {
  const columns: ActColumn[] = [];
  const questions = new Set<string>();
  const takeRecord = ({ line, value }: InputRecord) => {
    const location = { file: actsFileName, line };
    const { id, question, act, evidence } = checkLine(value, location);
    questions.add(question);
    if (act === null) return;
    const { artifact } = evidence;
    let column = columns.find(
      (candidate) => candidate.question === question && candidate.source.modelId === artifact,
    );
    if (column === undefined) columns.push((column = new ActColumn(question, artifact)));
    column.addAct({ id, act, evidence }, location, { isWanted, isFitted });
  };
  await readRecords(actsFileName, context, takeRecord);
  const table = {
    columns,
    questions: [...questions],
    // A record without a line may have been left to a person.
    knows: () => true,
  };
  if (columns.length > 0) return table;
  throw tooLittleEvidence(printable`${actsFileName} has no act; give the lines that act printed.`);
}

/** @throws CalibrationInputError that names the wrong field. */
function checkLine(parsedLine: unknown, location: SourceLocation): ActLine {
  const actLine = Object(parsedLine) as ActLine;
  const wrongField = findWrongField(actLine);
  if (wrongField === null) return actLine;
  const problem = `${wrongField} is missing or wrong; give the lines that act printed`;
  throw new CalibrationInputError(location, problem);
}

// By hand: a schema takes a second for a million lines.
function findWrongField({ id, question, act, evidence }: ActLine): string | null {
  if (typeof id !== "string" || id === "") return "id";
  if (typeof question !== "string") return "question";
  if (act === null) return null;
  if (typeof act !== "string") return "act";
  if (typeof evidence?.artifact !== "string") return "evidence";
  const isShare = (shareName: (typeof shareNames)[number]) =>
    evidence[shareName] >= 0 && evidence[shareName] <= 1;
  const wrongShare = shareNames.find(
    (shareName) => typeof evidence[shareName] !== "number" || !isShare(shareName),
  );
  return wrongShare === undefined ? null : `evidence.${wrongShare}`;
}
