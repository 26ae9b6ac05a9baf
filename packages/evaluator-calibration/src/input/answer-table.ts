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

const NO_VALUES = "has no probability (yes or no) and no probabilities (options or levels)";
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
  readonly #notes: RecordNotes;
  /** The cluster of each record that names one; without `onePer`, that of each record with the state of another. */
  readonly clusters: RecordNotes["clusters"];
  /** The columns whose values may repeat. */
  readonly repeats: RecordNotes["repeats"];
  /** The first and the last day of the records that have a date. */
  readonly days: RecordNotes["days"];

  constructor(options: AnswerTableOptions = {}) {
    this.#options = options;
    this.#notes = new RecordNotes(options.onePer);
    ({ clusters: this.clusters, repeats: this.repeats, days: this.days } = this.#notes);
  }

  /** In the order of their first answers. */
  get columns(): AnswerColumn[] {
    return [...this.#columns.values()];
  }

  /** Returns the column with the most answers to a question: sources are never mixed. */
  largest(question: string): AnswerColumn | undefined {
    const columns = this.columns.filter((column) => column.question === question);
    return columns.toSorted((one, other) => other.ids.length - one.ids.length)[0];
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
    const value = toObject(givenValue, location);
    // An id that is no text is an error below.
    if (!(value["id"] instanceof Object)) {
      this.#notes.addCluster(value["id"] ?? value["requestId"], value);
      this.repeats.add(String(value["id"]), value);
    }
    if ("requestId" in value && "outcome" in value) this.#addDecision(value, location);
    else if ("answers" in value) {
      const answers = toObject(value["answers"], location, "answers");
      const ids = [idOf(value, location)];
      const wireOf = stepWires();
      for (const [step, { given: own, one }] of listSteps(value, answers).entries()) {
        const namedSource = toSource({ ...value, ...one }, location);
        const source = { ...namedSource, wire: wireOf(namedSource) };
        this.#addAnswers(own, { ids, source, location });
        if (one !== value) this.#noteStep(step, Object.keys(own), source);
      }
    } else if ("question" in value) this.#addLine(value, location);
    else if (!("requestId" in value)) {
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
      this.#notes.addDate(state["date"]);
      this.#notes.addCluster(id, state);
      this.repeats.add(id, state);
    }
    const key = state === undefined ? undefined : this.#notes.addCopy(id, stateHash(state));
    let hash = this.#hashes.get(questions);
    if (hash === undefined) this.#hashes.set(questions, (hash = questionHash(questions)));
    const { steps = [evaluation] } = evaluation;
    const wireOf = stepWires();
    for (const [step, { answers, modelId, transport, costUsd = null }] of steps.entries()) {
      const from = wireOf({ modelId, wire: step === 0 ? wire : (transport ?? wire) });
      const origin = basisOf(modelId, from, basis);
      const source = { modelId, wire: from, basis: origin, questionHash: hash };
      this.#addAnswers(answers, { ids: [id], source, location, state: key });
      if (steps.length > 1) this.#noteStep(step, Object.keys(answers), source);
      const cost = (this.stepCosts[step] ??= { records: 0, costUsd: 0 });
      cost.records += 1;
      cost.costUsd = cost.costUsd === null || costUsd === null ? null : cost.costUsd + costUsd;
    }
  }

  #noteStep(step: number, questions: readonly string[], source: AnswerSource): void {
    for (const question of questions) {
      const column = this.#columns.get(toKey(source, question));
      const steps = this.steps.get(question) ?? [];
      this.steps.set(question, steps);
      const columns = (steps[step] ??= []);
      if (column !== undefined && !columns.includes(column)) columns.push(column);
    }
  }

  /** Notes a record that is known and has no answer, such as one whose call failed. */
  addFailed(id: string): void {
    this.#failedIds.add(id);
  }

  /** Returns whether any question of a record was answered, or its call is known to have failed. */
  knows(id: string): boolean {
    return this.#failedIds.has(id) || this.columns.some((column) => column.rowOf(id) !== undefined);
  }

  /** @throws CalibrationInputError if the answer is invalid, or the record has one already. */
  add(answer: RecordAnswer, location: SourceLocation): void {
    const { questions, last = false } = this.#options;
    const { ids, question, source } = answer;
    this.allQuestions.add(question);
    if (questions !== undefined && !questions.includes(question)) return;
    const key = toKey(source, question);
    const column = this.#columns.get(key) ?? new AnswerColumn(answer);
    if (column.add(answer, location, last)) this.#columns.set(key, column);
    else {
      const record = `record ${quote(ids[0])} has a second answer to ${quote(question)}`;
      throw new CalibrationInputError(location, `${record}; --last takes the last of several`);
    }
  }

  /** Adds a line of the router's decision log: joined by its request's id or the evaluation's. */
  #addDecision(fields: Fields, location: SourceLocation): void {
    this.#notes.addDate(fields["time"]);
    const ids = [fields["requestId"], fields["evaluationId"]].filter(
      (id) => typeof id === "string",
    );
    // If a calibration changed a value, the log holds the printed one too.
    const probabilities = fields["printedProbabilities"] ?? fields["probabilities"];
    if (!isObject(probabilities)) {
      for (const id of ids) this.addFailed(id);
      return;
    }
    const { evaluatorModelId: modelId, wire, questionHash: hash } = fields;
    const source = toSource({ modelId, wire, questionHash: hash }, location, "evaluatorModelId");
    this.#addAnswer("tier", { probabilities }, { ids, source, location });
  }

  /** Adds a record with one answer. */
  #addLine(fields: Fields, location: SourceLocation): void {
    const id = idOf(fields, location);
    const { question, probabilities, error } = fields;
    const probability = toNumber(fields["probability"]);
    if (typeof question !== "string") {
      return rejectField(location, ["question", question]);
    }
    if ((probability == null || probability === "") && probabilities == null) {
      if (error != null) return this.addFailed(id);
      throw new CalibrationInputError(location, NO_VALUES);
    }
    const answer = probability == null ? fields : { ...fields, probability };
    this.#addAnswer(question, answer, { ids: [id], source: toSource(fields, location), location });
  }

  #addAnswers(answers: Fields, origin: Origin): void {
    for (const [question, givenAnswer] of Object.entries(answers)) {
      const what = `the answer to ${quote(question)}`;
      const answer = toObject(givenAnswer, origin.location, what);
      checkType(question, answer, origin);
      this.#addAnswer(question, answer, origin);
    }
  }

  #addAnswer(question: string, answer: Fields, { ids, source, location, state }: Origin): void {
    const { probability, probabilities, type } = answer;
    const about = { ids, question, source, state };
    if (probability !== undefined) {
      const values = [probability as number];
      this.add({ ...about, kind: "boolean", options: YES_NO, values }, location);
    } else if (isObject(probabilities) && Object.keys(probabilities).length > 0) {
      const options = Object.keys(probabilities);
      const values = Object.values(probabilities) as number[];
      const kind = listedKind(type, options);
      this.add({ ...about, kind, options, values }, location);
    } else if (type === "refusal") {
      for (const id of ids) this.addFailed(id);
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

function toKey({ modelId, wire, basis, questionHash: hash }: AnswerSource, question: string) {
  return JSON.stringify([modelId, wire, basis, hash, question]);
}

/** Returns the number of a text, as a CSV file holds it; any other value is kept. */
function toNumber(value: unknown): unknown {
  if (typeof value !== "string" || value.trim() === "") return value;
  return Number.isFinite(Number(value)) ? Number(value) : value;
}
