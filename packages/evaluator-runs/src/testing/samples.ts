import { type CalibrationArtifact, questionHash } from "evaluator-calibration";
import {
  boolean,
  choice,
  type Evaluation,
  type EvaluationRequest,
  type Questions,
  score,
  type Transport,
} from "evaluator-client";
import type { RecordSource, TableLayout } from "../input/record-source.ts";
import type { CallSetup } from "../journal/kept-answer.ts";

interface SampleAnswers {
  importance?: number;
  confidence?: Record<string, number>;
}

const categories = [
  "security_alert",
  "receipt",
  "service_notice",
  "newsletter",
  "personal_reminder",
  "business_inquiry",
  "other",
];

/** Returns a whole gateway response to the four questions, at a whole importance level. */
export function sampleResponse({
  importance = 2,
  confidence = { category: 0.9, importance: 0.8 },
}: SampleAnswers = {}) {
  const levels = [0, 1, 2, 3, 4, 5].map((level) => [level, level === importance ? 1 : 0]);
  const kinds = categories.map((option) => [option, option === "receipt" ? 1 : 0]);
  return {
    answers: {
      category: { type: "choice", choice: "receipt", probabilities: Object.fromEntries(kinds) },
      importance: { type: "score", score: importance, probabilities: Object.fromEntries(levels) },
      brand_deal: { type: "boolean", probability: 0.03 },
      scam: { type: "boolean", probability: 0.12 },
    },
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    usage: { inputTokens: 300, outputTokens: 4 },
    warnings: [],
    providerMetadata: { typesafe: { confidence }, gateway: { marketCost: "0.0000126" } },
  };
}

const oneQuestion = {
  scam: { type: "boolean", instructions: "Is it a scam?" },
} as const satisfies Questions;

/** One question and a service. */
export const sampleSetup: CallSetup = {
  questions: oneQuestion,
  service: { address: "w", modelId: "m" },
};

/** Returns an answer to the question of the sample setup. */
export function sampleEvaluation(probability = 0.12): Evaluation<typeof oneQuestion> {
  return {
    answers: { scam: { type: "boolean", probability } },
    transport: "gateway",
    confidence: {},
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    usage: { inputTokens: 300, outputTokens: 4 },
    warnings: [],
    providerMetadata: {},
    costUsd: null,
    modelId: "m",
    requestId: null,
    status: 200,
    headers: {},
    timing: { totalMs: 20, providerMs: null, attempts: 1 },
    raw: { body: "verbatim" },
  };
}

/** A transport that keeps its requests. */
export interface RecordingTransport extends Transport {
  readonly requests: EvaluationRequest[];
  /** Returns the maximum of requests at once. */
  readonly mostAtOnce: () => number;
}

/** Makes a transport that answers each request with the response for its index, of a model if one is named. */
export function recordingTransport(
  respond: (index: number) => unknown = () => sampleResponse(),
  modelId: string | null = null,
): RecordingTransport {
  const requests: EvaluationRequest[] = [];
  let underWay = 0;
  let most = 0;
  return {
    name: "gateway",
    requests,
    mostAtOnce: () => most,
    async send(request) {
      const index = requests.push(request) - 1;
      most = Math.max(most, (underWay += 1));
      await new Promise(setImmediate);
      underWay -= 1;
      return { response: respond(index), modelId, requestId: null, raw: null };
    },
  };
}

/** Four questions that {@link sampleResponse} answers. */
export const sampleQuestions = {
  category: choice(
    "What kind of email is this?",
    Object.fromEntries(categories.map((name) => [name, `about ${name}`])),
  ),
  importance: score(
    "How important is it?",
    ["ignore", "low", "medium", "high", "critical", "insane"].map((level) => `${level}: so`),
  ),
  brand_deal: boolean("Does it mention a brand deal?"),
  scam: boolean("Does it look like a scam?"),
};

/** Returns a calibration of scam alone, with other fields if they are given; the slope of 2 makes sure answers surer. */
export function sampleCalibration(
  questions: Questions,
  fields: Partial<CalibrationArtifact> = {},
): CalibrationArtifact {
  return {
    version: 1,
    kind: "by-question",
    model: { id: "typesafe-ai/jev", wire: null },
    questionHash: questionHash(questions),
    rounding: { probabilityDecimals: 2 },
    fittedOn: { n: 1204, from: null, to: null, hash: "0" },
    heldOut: { before: 0.4, after: 0.3 },
    thresholds: [],
    parameters: {
      scam: { kind: "logistic", parameters: { intercept: 0, slope: 2 } },
      importance: { kind: "temperature", parameters: { temperature: 1 } },
    },
    ...fields,
  } as CalibrationArtifact;
}

/** A table of answers to these questions. */
export const sampleLayout: TableLayout = {
  answers: [
    { heading: "imp", field: "importance" },
    { heading: "conf", field: "importanceConf" },
    { heading: "scam", field: "scam" },
    { heading: "deal", field: "brandDeal" },
    { heading: "category", field: "category", isText: true },
  ],
  sort: "importance",
  dayField: "date",
  record: [
    { name: "date", most: Number.POSITIVE_INFINITY },
    { name: "from", most: 28 },
    { name: "subject", most: 60 },
  ],
};

/** A source of records whose inputs cannot be opened. */
export const sampleSource: RecordSource = {
  word: "record",
  program: "records",
  suffix: "records",
  journalVariable: "RECORDS_JOURNAL",
  inputForm: "a JSON array of records",
  examples: ["records.json --offline"],
  options: [],
  readState: () => ({}),
  open: () => Promise.reject(new Error("no input")),
  questions: async () => sampleQuestions,
  columns: [],
  queryColumns: [],
  table: sampleLayout,
  dayOf: () => "2026-11-02",
  markOf: () => "",
  keepStateOptions: () => ({}),
};
