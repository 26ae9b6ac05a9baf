import { kindOf, type QuestionKind } from "../kinds.ts";
import {
  CalibrationInputError,
  type Fields,
  idOf,
  type InputRecord,
  isObject,
  quote,
  type SourceLocation,
} from "./input-record.ts";

const bases = ["model", "recorded", "rule", "lexical"] as const;

/** The origin of an answer: a model, or a substitute of the emulator. */
export type Basis = (typeof bases)[number];

/** The origin of answers. Answers of two sources are never mixed. */
export interface AnswerSource {
  readonly modelId: string | null;
  readonly wire: string | null;
  readonly basis: Basis;
  readonly questionHash: string | null;
}

/** One answer about one record. */
export interface RecordAnswer {
  /** All names of the record. */
  readonly ids: readonly string[];
  readonly question: string;
  readonly kind: QuestionKind;
  /** Options, or level indexes as text; `["no", "yes"]` for the probability of yes. */
  readonly options: readonly string[];
  /** The probability of yes, or one for each option. */
  readonly values: readonly number[];
  readonly source: AnswerSource;
}

/** Takes the answers that are read. */
interface AnswerSink {
  /** Notes about ignored data. */
  readonly notes: Set<string>;
  add(answer: RecordAnswer, location: SourceLocation): void;
  addFailed(id: string): void;
  noteDate(date: unknown): void;
}

interface Target {
  readonly sink: AnswerSink;
  readonly location: SourceLocation;
}

/** Returns the origin of answers, by the model and the wire that they name. */
export function basisOf(modelId: string | null, wire: string | null): Basis {
  if (modelId === "local/rules-1") return "rule";
  if (modelId?.startsWith("local/") === true) return "lexical";
  return wire !== null && /^emulator\b/.test(wire) ? "recorded" : "model";
}

/** Reads one record of a file of answers: a router's decision, a line of NDJSON or a triage result. */
export function readAnswerRecord({ line, value }: InputRecord, file: string, sink: AnswerSink) {
  const target = { sink, location: { file, line } };
  if (!isObject(value)) {
    throw new CalibrationInputError(target.location, "is no JSON object; each record is one");
  }
  // A person's word on a decision is a label; the router's own command reads it.
  if ("requestId" in value && "feedback" in value) return;
  if ("requestId" in value && "outcome" in value) readDecision(value, target);
  else if ("answers" in value) readEvaluation(value, target);
  else if ("question" in value) readAnswer(value, target);
  else if ("subject" in value && "from" in value) readResult(value, target);
  else {
    const wanted = "id, question and probability (or probabilities)";
    throw new CalibrationInputError(
      target.location,
      `has no question; each record holds ${wanted}`,
    );
  }
}

/** One line of the router's decision log: joined by its request's id or the evaluation's. */
function readDecision(fields: Fields, { sink, location }: Target): void {
  sink.noteDate(fields["time"]);
  const ids = [fields["requestId"], fields["evaluationId"]].filter((id) => typeof id === "string");
  // If a calibration changed a value, the log holds the printed one too.
  const probabilities = fields["printedProbabilities"] ?? fields["probabilities"];
  if (!isObject(probabilities)) {
    for (const id of ids) sink.addFailed(id);
    return;
  }
  const { evaluatorModelId: modelId, wire, questionHash } = fields;
  const source = sourceOf({ modelId, wire, questionHash }, location, "evaluatorModelId");
  addAnswers({ ids, answers: { tier: { probabilities } }, source }, { sink, location });
}

function readEvaluation(fields: Fields, target: Target): void {
  const { answers } = fields;
  const { location } = target;
  if (!isObject(answers)) throw new CalibrationInputError(location, "answers is no JSON object");
  const ids = [idOf(fields, location)];
  addAnswers({ ids, answers, source: sourceOf(fields, location) }, target);
}

function readAnswer(fields: Fields, target: Target): void {
  const { sink, location } = target;
  const id = idOf(fields, location);
  const { question, probability, probabilities, error } = fields;
  if (typeof question !== "string") {
    throw new CalibrationInputError(location, `question is ${quote(question)}; it must be a text`);
  }
  if (probability == null && probabilities == null) {
    if (error != null) return sink.addFailed(id);
    const problem = "has no probability (yes or no) and no probabilities (options or levels)";
    throw new CalibrationInputError(location, `${problem}; one of the two is needed`);
  }
  addAnswer({ ids: [id], question, source: sourceOf(fields, location) }, fields, target);
}

/** A triage result has a probability for yes/no questions alone. */
function readResult(fields: Fields, { sink, location }: Target): void {
  const id = idOf(fields, location);
  sink.noteDate(fields["date"]);
  if (typeof fields["error"] === "string") return sink.addFailed(id);
  const source: AnswerSource = { modelId: null, wire: null, basis: "model", questionHash: null };
  const known = new Set(["id", "date", "from", "subject"]);
  const isBeside = (name: string, ending: string) =>
    name.endsWith(ending) && name.slice(0, -ending.length) in fields;
  for (const [name, value] of Object.entries(fields)) {
    // If a calibration changed a value, the record holds the printed one too.
    if (known.has(name) || isBeside(name, "Conf") || isBeside(name, "Printed")) continue;
    if (`${name}Conf` in fields) {
      const problem = `${quote(name)} is left out: a result file holds no probabilities for it`;
      sink.notes.add(`${problem}; give the journal (.triage.sqlite) instead.`);
    } else {
      const answer = { probability: fields[`${name}Printed`] ?? value };
      addAnswer({ ids: [id], question: name, source }, answer, { sink, location });
    }
  }
}

/** Adds the answers of one record by question. */
export function addAnswers(
  { ids, answers, source }: Pick<RecordAnswer, "ids" | "source"> & { readonly answers: Fields },
  target: Target,
): void {
  for (const question of Object.keys(answers)) {
    const answer = answers[question];
    if (!isObject(answer)) {
      const problem = `the answer to ${quote(question)} is no JSON object`;
      throw new CalibrationInputError(target.location, problem);
    }
    addAnswer({ ids, question, source }, answer, target);
  }
}

const YES_NO = ["no", "yes"] as const;

function addAnswer(
  about: Pick<RecordAnswer, "ids" | "question" | "source">,
  { probability, probabilities, type }: Fields,
  { sink, location }: Target,
): void {
  if (probability !== undefined) {
    const values = [probability as number];
    sink.add({ ...about, kind: kindOf(null, type), options: YES_NO, values }, location);
  } else if (isObject(probabilities) && Object.keys(probabilities).length > 0) {
    const options = Object.keys(probabilities);
    const values = Object.values(probabilities) as number[];
    sink.add({ ...about, kind: kindOf(options, type), options, values }, location);
  } else if (type === "refusal") {
    for (const id of about.ids) sink.addFailed(id);
  } else {
    const problem = `the answer to ${quote(about.question)} has no probability and no probabilities`;
    throw new CalibrationInputError(location, problem);
  }
}

function sourceOf(fields: Fields, location: SourceLocation, modelField = "modelId"): AnswerSource {
  const modelId = textOf(modelField, fields["modelId"], location);
  const wire = textOf("wire", fields["wire"], location);
  const questionHash = textOf("questionHash", fields["questionHash"], location);
  const basis = bases.find((one) => one === fields["basis"]) ?? basisOf(modelId, wire);
  return { modelId, wire, questionHash, basis };
}

function textOf(name: string, value: unknown, location: SourceLocation): string | null {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return null;
  throw new CalibrationInputError(location, `${name} is ${quote(value)}; it must be a text`);
}
