import type { AnswerColumn } from "./answer-column.ts";
import type { AnswerTable } from "./answer-table.ts";
import {
  CalibrationInputError,
  type InputRecord,
  isObject,
  listNames,
  quote,
  rejectField,
  type SourceLocation,
} from "./input-record.ts";
import { parseLabel } from "./labels.ts";
import { RepeatedColumns } from "./repeated-columns.ts";

/** The labelled rows of one column of answers, one number each. */
export type JoinedColumn = ReturnType<typeof emptyJoin>;

function emptyJoin(labelJoin: LabelJoin, column: AnswerColumn) {
  return {
    join: labelJoin,
    column,
    /** Rows of the column, in the order of the labels. */
    rows: [] as number[],
    /** 0 and 1, or the index of the option or level; −1 if the record was skipped, −2 if labelers tie. */
    truth: [] as number[],
    weights: [] as number[],
    /** Whether a label names the weight of each row. */
    isWeighted: [] as boolean[],
    /** An index into `join.groups` of each row; −1 for none. */
    groupOf: [] as number[],
    clusterOf: [] as number[],
    labelerOf: [] as number[],
    /** The labels of each row that several labelers have; a truth of −1 is a skip. */
    votes: new Map<number, { labeler: number; truth: number }[]>(),
    /** Which joined row a row of the column became. */
    joinedRows: [] as number[],
  };
}

const noCounts = {
  labelled: 0,
  /** Answers of all sources. */
  answered: 0,
  joined: 0,
  /** Of the joined: skipped, or a tie of labelers. */
  skipped: 0,
  /** Of the skipped: ties of labelers. */
  tied: 0,
  /** The record is known, but has no answer: its call failed. */
  labelledWithoutAnswer: 0,
  answeredWithoutLabel: 0,
  /** Ids that are there twice, of which the last was taken. */
  repeated: 0,
  /** Ids that the answers do not know at all. */
  unknown: 0,
  /** Labels that were drawn for a promise; no other count has them. */
  drawn: 0,
};

/** What became of the labels of one question. */
type JoinCounts = typeof noCounts;

/** How labels are joined. */
export interface JoinOptions {
  /** Takes the last of several labels for one record. @default false */
  readonly last?: boolean | undefined;
  /** Counts ids that the answers do not know, instead of an error. @default false */
  readonly allowUnknown?: boolean | undefined;
  /** Leaves out labels of other questions than these. */
  readonly questions?: readonly string[] | undefined;
  /** The fields of a label that name its group and its cluster. @default "group" */
  readonly by?: string | undefined;
  readonly onePer?: string | undefined;
}

/** What labels are joined with: a table of answers, or one like it. */
type LabelledTable = Pick<AnswerTable, "columns" | "questions" | "knows"> &
  Partial<Pick<AnswerTable, "clusters" | "repeats">>;

type Label = NonNullable<ReturnType<typeof parseLabel>>;

/** Joins labels with answers; nothing is dropped without being counted. */
export class LabelJoin {
  readonly table: LabelledTable;
  readonly #options: JoinOptions;
  readonly #knownNames: readonly string[];
  readonly #byQuestion: ReadonlyMap<string, readonly AnswerColumn[]>;
  readonly #joinedColumns = new Map<AnswerColumn, JoinedColumn>();
  readonly #drawnColumns = new Map<AnswerColumn, JoinedColumn>();
  readonly #countsByQuestion = new Map<string, JoinCounts>();
  /** Labels without an answer: for each question and record its labelers. */
  readonly #unansweredMap = new Map<string, Set<string | null>>();
  /** Rows of a drawn sheet without a truth, which are skipped if a later row is filled in. */
  #unreachedLabels: Label[] = [];
  /** The names behind the numbers in `groupOf`, `labelerOf` and `clusterOf`. */
  readonly groups = new Names();
  readonly labelers = new Names();
  readonly clusters = new Names();
  /** The columns of labels whose values may repeat. */
  readonly repeats = new RepeatedColumns();
  /** The plans of the labels that were drawn for a promise, each with its first label. */
  readonly plans = new Map<string, SourceLocation>();
  /** Rows of the sheet that are not filled in. */
  blank = 0;
  /** Labels that correct an answer; they are left out, since right answers have no such label. */
  overrides = 0;

  /** @param table - All answers; those added later are not seen. */
  constructor(table: LabelledTable, options: JoinOptions = {}) {
    this.table = table;
    this.#options = options;
    this.#knownNames = table.questions;
    this.#byQuestion = Map.groupBy(table.columns, ({ question }) => question);
  }

  /** The labelled rows, by source and question. */
  get columns(): JoinedColumn[] {
    return [...this.#joinedColumns.values()];
  }

  /** The rows of labels that were drawn for a promise, which are no random draw of all records. */
  get drawn(): JoinedColumn[] {
    return [...this.#drawnColumns.values()];
  }

  /** Returns what became of the labels of a question. */
  countsOf(question: string): JoinCounts {
    const columns = this.#byQuestion.get(question) ?? [];
    const answeredCount = columns.reduce((runningSum, { ids }) => runningSum + ids.length, 0);
    const questionCounts = this.#listCounts(question);
    const columnTruths = columns.flatMap((column) => this.#joinedColumns.get(column)?.truth ?? []);
    const skippedCount = columnTruths.filter((truthIndex) => truthIndex < 0).length;
    return {
      ...questionCounts,
      answered: answeredCount,
      skipped: skippedCount,
      tied: columnTruths.filter((truthIndex) => truthIndex === -2).length,
      answeredWithoutLabel: answeredCount - questionCounts.joined,
    };
  }

  /** Adds one record of a labels file. @throws CalibrationInputError that names the line and the field. */
  add(labelRecord: InputRecord, file: string): void {
    const { by = "group", onePer = "group" } = this.#options;
    const parsedLabel = parseLabel(labelRecord, { file, by, onePer });
    if (parsedLabel === null) return;
    if (isObject(labelRecord.value)) this.repeats.add(parsedLabel.id, labelRecord.value);
    if (parsedLabel.isOverride) {
      this.overrides += 1;
      return;
    }
    if (parsedLabel.truth === null && !parsedLabel.isSkipped) {
      this.blank += 1;
      if (parsedLabel.isDrawn) this.#unreachedLabels.push(parsedLabel);
      return;
    }
    const passedParts = this.#unreachedLabels.splice(0);
    this.blank -= passedParts.length;
    for (const drawnLabel of [...passedParts, parsedLabel]) this.#addLabel(drawnLabel);
  }

  #addLabel(label: Label): void {
    const question = this.#findQuestion(label);
    if (question === null) return;
    const questionCounts = this.#listCounts(question);
    let [foundCount, addedCount] = [0, 0];
    for (const column of this.#byQuestion.get(question) ?? []) {
      const rowIndex = column.rowOf(label.id);
      if (rowIndex === undefined) continue;
      foundCount += 1;
      if (this.#addLabelRow(column, rowIndex, label)) addedCount += 1;
    }
    if (foundCount === 0) this.#addUnanswered(question, label);
    if (label.plan !== null) {
      if (!this.plans.has(label.plan)) this.plans.set(label.plan, label.location);
      questionCounts.drawn += Number(addedCount > 0);
      return;
    }
    if (addedCount > 0) questionCounts.labelled += 1;
    questionCounts.joined += addedCount;
  }

  #findQuestion({ question, location }: Label): string | null {
    const knownNames = this.#knownNames;
    const wantedNames = this.#options.questions;
    if (question === null) {
      if (knownNames.length === 1) return knownNames[0] ?? null;
      const problem = `has no question; add one of ${listNames(knownNames)} to each label`;
      throw new CalibrationInputError(location, problem);
    }
    if (knownNames.includes(question)) return question;
    if (wantedNames !== undefined && !wantedNames.includes(question)) return null;
    return rejectField(location, ["question", question], `one of ${listNames(knownNames)}`);
  }

  #addLabelRow(column: AnswerColumn, rowIndex: number, label: Label): boolean {
    const columns = label.plan === null ? this.#joinedColumns : this.#drawnColumns;
    let joinedColumn = columns.get(column);
    if (joinedColumn === undefined) columns.set(column, (joinedColumn = emptyJoin(this, column)));
    const earlierPosition = joinedColumn.joinedRows[rowIndex];
    const position = earlierPosition ?? joinedColumn.rows.length;
    const labeler = this.labelers.indexOf(label.labeler);
    let truthIndex =
      label.truth === null ? -1 : column.truthOf(label.truth, label.location, rowIndex);
    if (earlierPosition !== undefined) {
      const earlierVotes = joinedColumn.votes.get(position) ?? [
        {
          labeler: joinedColumn.labelerOf[position] as number,
          truth: joinedColumn.truth[position] as number,
        },
      ];
      const otherVotes = earlierVotes.filter((vote) => vote.labeler !== labeler);
      if (otherVotes.length < earlierVotes.length) this.#countRepeated(column.question, label);
      otherVotes.push({ labeler, truth: truthIndex });
      joinedColumn.votes.set(position, otherVotes);
      truthIndex = computeMajority(otherVotes);
    }
    joinedColumn.joinedRows[rowIndex] = position;
    joinedColumn.rows[position] = rowIndex;
    joinedColumn.truth[position] = truthIndex;
    this.#addWeight(joinedColumn, position, label);
    // A second labeler's row may leave out the columns of the first one's.
    this.groups.keepIn(joinedColumn.groupOf, position, label.group);
    const cluster = this.#options.onePer && this.table.clusters?.get(label.id);
    this.clusters.keepIn(joinedColumn.clusterOf, position, cluster ?? label.cluster);
    joinedColumn.labelerOf[position] = labeler;
    return earlierPosition === undefined;
  }

  /** @throws CalibrationInputError if another label names a different weight of the record. */
  #addWeight(
    { weights, isWeighted }: JoinedColumn,
    position: number,
    { id, weight, location }: Label,
  ) {
    const isRepeated = this.#options.last === true;
    if (
      weight !== null &&
      isWeighted[position] === true &&
      weights[position] !== weight &&
      !isRepeated
    ) {
      // Six digits are enough for a weight such as 1 / 0.9.
      const [newWeight, oldWeight] = [weight, weights[position] ?? 1].map((weightValue) =>
        Number(weightValue.toPrecision(6)),
      );
      const problem = `record ${quote(id)} has the weight ${newWeight}, earlier ${oldWeight}`;
      throw new CalibrationInputError(location, `${problem}; correct one, or use --last`);
    }
    isWeighted[position] = weight !== null || isWeighted[position] === true;
    weights[position] = weight ?? weights[position] ?? 1;
  }

  #addUnanswered(question: string, label: Label): void {
    const isKnown = this.table.knows(label.id);
    if (!isKnown && this.#options.allowUnknown !== true) {
      const problem = `id ${quote(label.id)} has no answer; use --allow-unknown`;
      throw new CalibrationInputError(label.location, problem);
    }
    const recordKey = JSON.stringify([question, label.id]);
    const labelers = this.#unansweredMap.get(recordKey) ?? new Set<string | null>();
    if (labelers.has(label.labeler)) this.#countRepeated(question, label);
    const isFirst = labelers.size === 0;
    this.#unansweredMap.set(recordKey, labelers.add(label.labeler));
    if (!isFirst) return;
    const questionCounts = this.#listCounts(question);
    questionCounts.labelled += 1;
    questionCounts[isKnown ? "labelledWithoutAnswer" : "unknown"] += 1;
  }

  /** Counts the second label of one labeler. @throws CalibrationInputError unless the last is to count. */
  #countRepeated(question: string, { id, location }: Label): void {
    this.#listCounts(question).repeated += 1;
    if (this.#options.last === true) return;
    const problem = `record ${quote(id)} is labelled a second time`;
    throw new CalibrationInputError(location, `${problem}; --last takes the last of several`);
  }

  #listCounts(question: string): JoinCounts {
    let questionCounts = this.#countsByQuestion.get(question);
    if (questionCounts === undefined)
      this.#countsByQuestion.set(question, (questionCounts = { ...noCounts }));
    return questionCounts;
  }
}

/** Returns the most frequent truth; −2 for a tie. A skip is a vote that the truth is unknown. */
function computeMajority(labelVotes: readonly { truth: number }[]): number {
  const truthVotes = [...Map.groupBy(labelVotes, ({ truth }) => truth)].toSorted(
    ([, firstVotes], [, secondVotes]) => secondVotes.length - firstVotes.length,
  );
  const [[truth, mostVotes] = [-1, []], [, nextVotes] = [-1, []]] = truthVotes;
  return mostVotes.length > nextVotes.length ? truth : -2;
}

/** Names by number. */
class Names {
  readonly list: string[] = [];
  readonly #indexes = new Map<string, number>();

  /** Notes the name of a row, unless it has one; of two the first in the alphabet, whichever came first. */
  keepIn(indexes: number[], position: number, newName: string | null): void {
    const knownText = this.list[indexes[position] ?? -1] ?? null;
    const isKept = knownText !== null && (newName === null || knownText < newName);
    indexes[position] = this.indexOf(isKept ? knownText : newName);
  }

  /** Returns the number of a name, which may be new; −1 for none. */
  indexOf(newName: string | null): number {
    if (newName === null) return -1;
    let nameIndex = this.#indexes.get(newName);
    if (nameIndex === undefined)
      this.#indexes.set(newName, (nameIndex = this.list.push(newName) - 1));
    return nameIndex;
  }
}
