import { type AskedQuestions, questionHash } from "../artifact/question-hash.ts";
import type { AnswerSource, AnswerTable, Basis } from "./answer-table.ts";
import { CalibrationInputError, type SourceLocation, quote } from "./input-error.ts";
import type { InputRecord } from "./input-record.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The first words of a wire that the emulator answered on. */
const EMULATED = /^emulator\b/;

/** Returns what answers rest on, by the model and the wire they name. */
export function basisOf(modelId: string | null, wire: string | null): Basis {
  if (modelId === "local/rules-1") return "rule";
  if (modelId?.startsWith("local/") === true) return "lexical";
  return wire !== null && EMULATED.test(wire) ? "recorded" : "model";
}

/** An evaluation as it was kept, and what was asked. */
export interface KeptAnswers {
  readonly id: string;
  readonly questions: AskedQuestions;
  readonly wire: string;
  readonly evaluation: {
    readonly answers: Fields;
    readonly modelId: string | null;
  };
}

/** Returns a function that adds kept evaluations; the questions' hash is computed once for each wording. */
export function evaluationReader(
  table: AnswerTable,
): (kept: KeptAnswers, location: SourceLocation) => void {
  const sources = new Map<string, AnswerSource>();
  const hashes = new WeakMap<AskedQuestions, string>();
  return ({ id, questions, wire, evaluation }, location) => {
    let asked = hashes.get(questions);
    if (asked === undefined) hashes.set(questions, (asked = questionHash(questions)));
    const { modelId } = evaluation;
    const key = JSON.stringify([modelId, wire, asked]);
    let source = sources.get(key);
    if (source === undefined) {
      source = { modelId, wire, basis: basisOf(modelId, wire), questionHash: asked };
      sources.set(key, source);
    }
    addAnswers({ ids: [id], answers: evaluation.answers, source }, { table, location });
  };
}

/** Adds one record of a file of answers: a router's decision, a line of NDJSON, or a triage result. */
export function readAnswerRecord(
  { line, value }: InputRecord,
  { table, file }: { readonly table: AnswerTable; readonly file: string },
): void {
  const location = { file, line };
  if (!isObject(value)) {
    throw new CalibrationInputError(location, "is no JSON object; each record is one");
  }
  table.noteCluster(value["id"] ?? value["requestId"], value);
  // In the router's log a person's word on a decision; its labels are read by the router's own command.
  if ("requestId" in value && "feedback" in value) return;
  if ("requestId" in value && "outcome" in value) readDecision(value, table, location);
  else if ("answers" in value) readEvaluation(value, table, location);
  else if ("question" in value) readAnswer(value, table, location);
  else if ("subject" in value && "from" in value) readResult(value, table, location);
  else {
    const wanted = "id, question and probability (or probabilities)";
    throw new CalibrationInputError(location, `has no question; each record holds ${wanted}`);
  }
}

/** One line of the router's decision log: joined by its request's id or the evaluation's. */
function readDecision(fields: Fields, table: AnswerTable, location: SourceLocation): void {
  table.noteDate(fields["time"]);
  const ids = [fields["requestId"], fields["evaluationId"]].filter((id) => typeof id === "string");
  // Where a calibration changed a value, what the service printed stands beside it.
  const probabilities = fields["printedProbabilities"] ?? fields["probabilities"];
  if (!isObject(probabilities)) {
    for (const id of ids) table.addFailed(id);
    return;
  }
  const modelId = textOf(fields, "evaluatorModelId", location);
  const wire = textOf(fields, "wire", location);
  const hash = textOf(fields, "questionHash", location);
  const source = { modelId, wire, basis: basisOf(modelId, wire), questionHash: hash };
  const tier = { type: "choice", probabilities };
  addAnswers({ ids, answers: { tier }, source }, { table, location });
}

function readEvaluation(fields: Fields, table: AnswerTable, location: SourceLocation): void {
  const { answers } = fields;
  if (!isObject(answers)) throw new CalibrationInputError(location, "answers is no JSON object");
  addAnswers(
    { ids: [idOf(fields, location)], answers, source: sourceOf(fields, location) },
    { table, location },
  );
}

function readAnswer(fields: Fields, table: AnswerTable, location: SourceLocation): void {
  const id = idOf(fields, location);
  const { question } = fields;
  if (typeof question !== "string") {
    throw new CalibrationInputError(location, `question is ${quote(question)}; it must be a text`);
  }
  const isUnanswered = fields["probability"] == null && fields["probabilities"] == null;
  if (isUnanswered && fields["error"] != null) {
    table.addFailed(id);
    return;
  }
  if (isUnanswered) {
    const problem = "has no probability (yes or no) and no probabilities (options or levels)";
    throw new CalibrationInputError(location, `${problem}; one of the two is needed`);
  }
  const source = sourceOf(fields, location);
  addAnswer({ ids: [id], question, answer: fields, source }, { table, location });
}

/** A triage result has a probability for yes/no questions alone. */
function readResult(fields: Fields, table: AnswerTable, location: SourceLocation): void {
  const id = idOf(fields, location);
  table.noteDate(fields["date"]);
  if (typeof fields["error"] === "string") {
    table.addFailed(id);
    return;
  }
  const source: AnswerSource = { modelId: null, wire: null, basis: "model", questionHash: null };
  const known = new Set(["id", "date", "from", "subject"]);
  for (const [name, value] of Object.entries(fields)) {
    if (known.has(name) || (name.endsWith("Conf") && name.slice(0, -4) in fields)) continue;
    // Where a calibration changed a value, what the service printed stands beside it.
    if (name.endsWith("Printed") && name.slice(0, -"Printed".length) in fields) continue;
    if (`${name}Conf` in fields) {
      const problem = `${quote(name)} is left out: a result file holds no probabilities for it`;
      table.notes.add(`${problem}; give the journal (.triage.sqlite) instead.`);
    } else {
      const probability = fields[`${name}Printed`] ?? value;
      const answers = { [name]: { type: "boolean", probability } };
      addAnswers({ ids: [id], answers, source }, { table, location });
    }
  }
}

interface Answered {
  readonly ids: readonly string[];
  readonly answers: Fields;
  readonly source: AnswerSource;
}

interface Target {
  readonly table: AnswerTable;
  readonly location: SourceLocation;
}

const YES_NO = ["no", "yes"] as const;

function addAnswers({ ids, answers, source }: Answered, target: Target): void {
  for (const question of Object.keys(answers)) {
    const answer = answers[question];
    if (!isObject(answer)) {
      const problem = `the answer to ${quote(question)} is no JSON object`;
      throw new CalibrationInputError(target.location, problem);
    }
    addAnswer({ ids, question, answer, source }, target);
  }
}

function addAnswer(
  {
    ids,
    question,
    answer,
    source,
  }: Omit<Answered, "answers"> & { question: string; answer: Fields },
  { table, location }: Target,
): void {
  const { probability, probabilities, type } = answer;
  if (probability !== undefined) {
    const values = [probability as number];
    table.add({ ids, question, kind: "boolean", options: YES_NO, values, source }, location);
  } else if (isObject(probabilities) && Object.keys(probabilities).length > 0) {
    const options = Object.keys(probabilities);
    const kind = type === "choice" || !isLevels(options) ? "choice" : "score";
    const values = Object.values(probabilities) as number[];
    table.add({ ids, question, kind, options, values, source }, location);
  } else if (type === "refusal") {
    for (const id of ids) table.addFailed(id);
  } else {
    const problem = `the answer to ${quote(question)} has no probability and no probabilities`;
    throw new CalibrationInputError(location, problem);
  }
}

function isLevels(options: readonly string[]): boolean {
  return options.every((option, index) => option === String(index));
}

function sourceOf(fields: Fields, location: SourceLocation): AnswerSource {
  const modelId = textOf(fields, "modelId", location);
  const wire = textOf(fields, "wire", location);
  const hash = textOf(fields, "questionHash", location);
  const { basis } = fields;
  const isNamed =
    basis === "model" || basis === "recorded" || basis === "rule" || basis === "lexical";
  return { modelId, wire, questionHash: hash, basis: isNamed ? basis : basisOf(modelId, wire) };
}

function textOf(fields: Fields, name: string, location: SourceLocation): string | null {
  const value = fields[name];
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return null;
  throw new CalibrationInputError(location, `${name} is ${quote(value)}; it must be a text`);
}

/** Returns the id of a record. @throws CalibrationInputError where it has none. */
export function idOf(fields: Fields, location: SourceLocation): string {
  const { id } = fields;
  if (typeof id === "string" && id !== "") return id;
  if (typeof id === "number" && Number.isFinite(id)) return String(id);
  const problem =
    id === undefined
      ? "has no id; each record needs one of its own"
      : `id is ${quote(id)}; each record needs an id of its own`;
  throw new CalibrationInputError(location, problem);
}

/** Returns whether a value is an object with fields. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
