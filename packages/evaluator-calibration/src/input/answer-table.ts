import {
  type AskedQuestions,
  isKind,
  kinds,
  listedKind,
  questionHash,
  unknownKind,
} from "../kinds.ts";
import { stateHash } from "../math/random.ts";
import { AnswerColumn, type RecordAnswer } from "./answer-column.ts";
import { type AnswerSource, type Basis, basisOf, toSource } from "./answer-source.ts";
import {
  CalibrationInputError,
  type Fields,
  idOf,
  type InputRecord,
  isObject,
  listSteps,
  quote,
  rejectField,
  type SourceLocation,
  toObject,
} from "./input-record.ts";
import { RecordNotes } from "./record-notes.ts";
import { stepWires } from "./step-wire.ts";

/** The answers of one model. */
interface StepAnswers {
  readonly answers: Fields;
  readonly modelId: string | null;
  /** Of a later model. @default the first one's */
  readonly transport?: string | undefined;
  readonly costUsd?: number | null | undefined;
}

/** How many records a model was asked about that is one of several, and at what cost in US dollars; null if unknown. */
interface StepCost {
  records: number;
  costUsd: number | null;
}

/** An evaluation that a journal holds, and the questions that were asked. */
export interface KeptAnswers {
  readonly id: string;
  readonly questions: AskedQuestions;
  readonly wire: string;
  /** The record, whose date and cluster are noted. */
  readonly state?: unknown;
  readonly evaluation: StepAnswers & {
    /** The answers of each model, if several were asked one after the other. */
    readonly steps?: readonly StepAnswers[];
  };
  /** The origin of the answers, if it is known. @default by the model and the wire */
  readonly basis?: Basis | null;
}

/** How answers are collected. */
interface AnswerTableOptions {
  /** Takes the last of several answers about one record; without it they are an error. @default false */
  readonly last?: boolean | undefined;
  /** Takes only these questions. */
  readonly questions?: readonly string[] | undefined;
  /** The field of a record whose value names its cluster, such as its thread. */
  readonly onePer?: string | undefined;
}

/** The record of an answer, its source and its place. */
interface Origin extends Pick<RecordAnswer, "ids" | "source" | "state"> {
  readonly location: SourceLocation;
}

const NO_VALUES = "has neither probability (yes or no) nor probabilities (options or levels)";
const YES_NO = ["no", "yes"] as const;

/** All answers of a run, by source and question. */
export class AnswerTable {
  readonly #options: AnswerTableOptions;
  readonly #columns = new Map<string, AnswerColumn>();
  readonly #failedIds = new Set<string>();
  readonly #hashes = new WeakMap<AskedQuestions, string>();
  /** For each question that several models were asked: the columns of the first, of the second and so on. */
  readonly steps = new Map<string, AnswerColumn[][]>();
  readonly stepCosts: StepCost[] = [];
  /** The questions of all answers, also of those that were not taken. */
  readonly allQuestions = new Set<string>();
  readonly #recordNotes: RecordNotes;
  /** The cluster of each record that names one; without `onePer`, that of each record with the state of another. */
  readonly clusters: RecordNotes["clusters"];
  /** The columns whose values may repeat. */
  readonly repeats: RecordNotes["repeats"];
  /** The first and the last day of the records that have a date. */
  readonly days: RecordNotes["days"];

  constructor(options: AnswerTableOptions = {}) {
    this.#options = options;
    this.#recordNotes = new RecordNotes(options.onePer);
    ({ clusters: this.clusters, repeats: this.repeats, days: this.days } = this.#recordNotes);
  }

  /** In the order of their first answers. */
  get columns(): AnswerColumn[] {
    return [...this.#columns.values()];
  }

  /** Returns the column with the most answers to a question: sources are never mixed. */
  largest(question: string): AnswerColumn | undefined {
    const columns = this.columns.filter((answerColumn) => answerColumn.question === question);
    return columns.toSorted((first, second) => second.ids.length - first.ids.length)[0];
  }

  /** The questions that were answered. */
  get questions(): string[] {
    return [...new Set(this.columns.map(({ question }) => question))];
  }

  /**
   * Adds one record of a file of answers: a router's decision, or a line of NDJSON.
   *
   * @throws CalibrationInputError that names the invalid field.
   */
  addRecord({ line, value: givenValue }: InputRecord, file: string): void {
    const location = { file, line };
    const recordFields = toObject(givenValue, location);
    // An id that is no text is an error below.
    if (!(recordFields["id"] instanceof Object)) {
      this.#recordNotes.addCluster(recordFields["id"] ?? recordFields["requestId"], recordFields);
      this.repeats.add(String(recordFields["id"]), recordFields);
    }
    if ("requestId" in recordFields && "outcome" in recordFields)
      this.#addDecision(recordFields, location);
    else if ("answers" in recordFields) {
      const answers = toObject(recordFields["answers"], location, "answers");
      const ids = [idOf(recordFields, location)];
      const toStepWire = stepWires();
      for (const [stepIndex, { stepAnswers, stepFields }] of listSteps(
        recordFields,
        answers,
      ).entries()) {
        const namedSource = toSource({ ...recordFields, ...stepFields }, location);
        const answerSource = { ...namedSource, wire: toStepWire(namedSource) };
        this.#addAnswers(stepAnswers, { ids, source: answerSource, location });
        if (stepFields !== recordFields)
          this.#noteStep(stepIndex, Object.keys(stepAnswers), answerSource);
      }
    } else if ("question" in recordFields) this.#addLine(recordFields, location);
    else if (!("requestId" in recordFields)) {
      // Other lines of a decision log, such as feedback, hold no answer.
      const problem = "has no question; give id, question and probability (or probabilities)";
      throw new CalibrationInputError(location, problem);
    }
  }

  /** Adds an evaluation of a journal. */
  addEvaluation(
    { id, questions, wire, state, evaluation, basis }: KeptAnswers,
    location: SourceLocation,
  ): void {
    if (isObject(state)) {
      this.#recordNotes.addDate(state["date"]);
      this.#recordNotes.addCluster(id, state);
      this.repeats.add(id, state);
    }
    const stateKey =
      state === undefined ? undefined : this.#recordNotes.addCopy(id, stateHash(state));
    let hash = this.#hashes.get(questions);
    if (hash === undefined) this.#hashes.set(questions, (hash = questionHash(questions)));
    const { steps = [evaluation] } = evaluation;
    const toStepWire = stepWires();
    for (const [stepIndex, { answers, modelId, transport, costUsd = null }] of steps.entries()) {
      const stepWire = toStepWire({ modelId, wire: stepIndex === 0 ? wire : (transport ?? wire) });
      const stepBasis = basisOf(modelId, stepWire, basis);
      const answerSource = { modelId, wire: stepWire, basis: stepBasis, questionHash: hash };
      this.#addAnswers(answers, { ids: [id], source: answerSource, location, state: stateKey });
      if (steps.length > 1) this.#noteStep(stepIndex, Object.keys(answers), answerSource);
      const stepCost = (this.stepCosts[stepIndex] ??= { records: 0, costUsd: 0 });
      stepCost.records += 1;
      stepCost.costUsd =
        stepCost.costUsd === null || costUsd === null ? null : stepCost.costUsd + costUsd;
    }
  }

  #noteStep(stepIndex: number, questions: readonly string[], answerSource: AnswerSource): void {
    for (const question of questions) {
      const column = this.#columns.get(toColumnKey(answerSource, question));
      const questionSteps = this.steps.get(question) ?? [];
      this.steps.set(question, questionSteps);
      const columns = (questionSteps[stepIndex] ??= []);
      if (column !== undefined && !columns.includes(column)) columns.push(column);
    }
  }

  /** Notes a record that is known and has no answer, such as one whose call failed. */
  addFailed(recordId: string): void {
    this.#failedIds.add(recordId);
  }

  /** Returns whether any question of a record was answered, or its call is known to have failed. */
  knows(recordId: string): boolean {
    return (
      this.#failedIds.has(recordId) ||
      this.columns.some((column) => column.rowOf(recordId) !== undefined)
    );
  }

  /** @throws CalibrationInputError if the answer is invalid, or the record has one already. */
  add(recordAnswer: RecordAnswer, location: SourceLocation): void {
    const { questions, last = false } = this.#options;
    const { ids, question, source } = recordAnswer;
    this.allQuestions.add(question);
    if (questions !== undefined && !questions.includes(question)) return;
    const columnKey = toColumnKey(source, question);
    const answerColumn = this.#columns.get(columnKey) ?? new AnswerColumn(recordAnswer);
    if (answerColumn.add(recordAnswer, location, last)) this.#columns.set(columnKey, answerColumn);
    else {
      const recordText = `record ${quote(ids[0])} has a second answer to ${quote(question)}`;
      throw new CalibrationInputError(location, `${recordText}; --last takes the last of several`);
    }
  }

  /** Adds a line of the router's decision log: joined by its request's id or the evaluation's. */
  #addDecision(decisionFields: Fields, location: SourceLocation): void {
    this.#recordNotes.addDate(decisionFields["time"]);
    const ids = [decisionFields["requestId"], decisionFields["evaluationId"]].filter(
      (recordId) => typeof recordId === "string",
    );
    // If a calibration changed a value, the log holds the printed one too.
    const probabilities = decisionFields["printedProbabilities"] ?? decisionFields["probabilities"];
    if (!isObject(probabilities)) {
      for (const recordId of ids) this.addFailed(recordId);
      return;
    }
    const { evaluatorModelId: modelId, wire, questionHash: hash } = decisionFields;
    const answerSource = toSource(
      { modelId, wire, questionHash: hash },
      location,
      "evaluatorModelId",
    );
    this.#addAnswer("tier", { probabilities }, { ids, source: answerSource, location });
  }

  /** Adds a record with one answer. */
  #addLine(lineFields: Fields, location: SourceLocation): void {
    const recordId = idOf(lineFields, location);
    const { question, probabilities, error } = lineFields;
    const probability = toNumber(lineFields["probability"]);
    if (typeof question !== "string") {
      return rejectField(location, ["question", question]);
    }
    if ((probability == null || probability === "") && probabilities == null) {
      if (error != null) return this.addFailed(recordId);
      throw new CalibrationInputError(location, NO_VALUES);
    }
    const answerFields = probability == null ? lineFields : { ...lineFields, probability };
    this.#addAnswer(question, answerFields, {
      ids: [recordId],
      source: toSource(lineFields, location),
      location,
    });
  }

  #addAnswers(answers: Fields, answerOrigin: Origin): void {
    for (const [question, givenAnswer] of Object.entries(answers)) {
      const answerName = `the answer to ${quote(question)}`;
      const answerFields = toObject(givenAnswer, answerOrigin.location, answerName);
      checkType(question, answerFields, answerOrigin);
      this.#addAnswer(question, answerFields, answerOrigin);
    }
  }

  #addAnswer(
    question: string,
    answerFields: Fields,
    { ids, source, location, state }: Origin,
  ): void {
    const { probability, probabilities, type } = answerFields;
    const about = { ids, question, source, state };
    if (probability !== undefined) {
      const answerValues = [probability as number];
      this.add({ ...about, kind: "boolean", options: YES_NO, values: answerValues }, location);
    } else if (isObject(probabilities) && Object.keys(probabilities).length > 0) {
      const options = Object.keys(probabilities);
      const answerValues = Object.values(probabilities) as number[];
      const answerKind = listedKind(type, options);
      this.add({ ...about, kind: answerKind, options, values: answerValues }, location);
    } else if (type === "refusal") {
      for (const recordId of ids) this.addFailed(recordId);
    } else if (!isKind(type) || kinds[type] !== null) {
      throw new CalibrationInputError(location, `the answer to ${quote(question)} ${NO_VALUES}`);
    }
  }
}

/** @throws CalibrationInputError for an unknown kind with a probability; the type of a line may be its record's. */
function checkType(question: string, answer: Fields, { location }: Origin) {
  const { probability, probabilities, type } = answer;
  if ((probability ?? probabilities) == null || type == null || isKind(type)) return;
  const problem = `the answer to ${quote(question)} has a wrong type. ${unknownKind(type)}`;
  throw new CalibrationInputError(location, problem);
}

function toColumnKey({ modelId, wire, basis, questionHash: hash }: AnswerSource, question: string) {
  return JSON.stringify([modelId, wire, basis, hash, question]);
}

/** Returns the number of a text, as a CSV file holds it; any other value is kept. */
function toNumber(fieldValue: unknown): unknown {
  if (typeof fieldValue !== "string" || fieldValue.trim() === "") return fieldValue;
  return Number.isFinite(Number(fieldValue)) ? Number(fieldValue) : fieldValue;
}
