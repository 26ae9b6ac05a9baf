import type { Questions, Answer, Question } from "evaluator-client";
import { type GivenAnswers, replyBody } from "../sample-requests.ts";
import { type CannedReply, toReply } from "./canned-server.ts";

// What is sent; whether it is the wire, the client says, which reads and checks it as a target.

/** Returns the replies of both services to the same questions, by method and path. */
export function cannedReplies(questions: Questions): ReadonlyMap<string, CannedReply> {
  const answers = sampleAnswers(questions);
  const gateway = toReply("200 OK", gatewayBody(answers), "x-vercel-id: fra1::bench-1\r\n");
  const direct = directBody(answers, questions);
  return new Map([
    ["POST /v4/ai/evaluation-model", gateway],
    ["POST /v4/ai/decision-model", gateway],
    ["POST /v4/ai/language-model", toReply("200 OK", replyBody)],
    ["GET /v1/models", toReply("200 OK", { object: "list", data: [] })],
    ["POST /v1/systemone", toReply("200 OK", direct, "x-typesafe-request-id: req_bench1\r\n")],
  ]);
}

/** Returns the same valid answer to each question every time; the sums are exactly 1. */
export function sampleAnswers(questions: Questions): Record<string, Answer> {
  const entries = Object.entries(questions);
  return Object.fromEntries(entries.map(([id, question]) => [id, sampleAnswer(question)]));
}

function sampleAnswer(question: Question): Answer {
  const { type } = question;
  if (type === "boolean") return { type, probability: 0.31 };
  const probabilities = falling(Object.keys(question.criteria));
  if (type === "choice")
    return { type, choice: Object.keys(probabilities)[0] ?? "", probabilities };
  return { type, score: weightedMean(Object.values(probabilities)), probabilities };
}

const hundredths = [60, 20, 10, 5, 3, 2];

/** The first gets most, the sixth 0.02, and everyone after that prints 0; the sum is 1. */
function falling(names: readonly string[]): Record<string, number> {
  const given = hundredths.slice(0, names.length);
  const rest = 100 - given.reduce((sum, each) => sum + each, 0);
  const [first = 0, ...others] = given;
  const values = [first + rest, ...others];
  return Object.fromEntries(names.map((name, index) => [name, (values[index] ?? 0) / 100]));
}

function weightedMean(probabilities: readonly number[]): number {
  const mean = probabilities.reduce((sum, each, index) => sum + index * each, 0);
  return Number(mean.toFixed(2));
}

const usage = { inputTokens: 566, outputTokens: 92 };

/**
 * Returns the gateway's response body to questions that are answered so (contract sections 2.3 and
 * 2.5).
 */
export function gatewayBody(answers: Readonly<Record<string, Answer>>): object {
  const weighed = Object.entries(answers).filter(([, { type }]) => type !== "boolean");
  return {
    answers,
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    usage,
    warnings: [],
    providerMetadata: {
      typesafe: { confidence: Object.fromEntries(weighed.map(([id]) => [id, 0.94])) },
      gateway: gatewayMetadata,
    },
  };
}

/** The vendor's response body to the same questions (contract section 2.6). */
function directBody(answers: Readonly<Record<string, Answer>>, questions: Questions): object {
  const entries = Object.entries(answers);
  return {
    model: "jev-1",
    answers: Object.fromEntries(
      entries.map(([id, answer]) => [id, toVendorAnswer(answer, questions[id])]),
    ),
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  };
}

function toVendorAnswer(answer: Answer, question: Question | undefined): object {
  if (answer.type === "boolean") return { type: "noul", noul: answer.probability };
  const weighed = { ...answer, confidence: 0.94 };
  if (question?.type !== "score") return weighed;
  return { ...weighed, legend: Object.fromEntries(question.criteria.entries()) };
}

const model = "typesafe-ai/jev";
const provider = "typesafe-ai";
const gatewayMetadata = {
  routing: {
    originalModelId: model,
    resolvedProvider: provider,
    fallbacksAvailable: [],
    planningReasoning:
      "System credentials planned for: typesafe-ai. Total execution order: typesafe-ai(system)",
    canonicalSlug: model,
    finalProvider: provider,
    modelAttemptCount: 1,
    modelAttempts: [
      {
        canonicalSlug: model,
        success: true,
        providerAttemptCount: 1,
        providerAttempts: [
          {
            provider,
            credentialType: "system",
            success: true,
            startTime: 1_772_442_010_000,
            endTime: 1_772_442_010_159,
            statusCode: 200,
          },
        ],
      },
    ],
    totalProviderAttemptCount: 1,
  },
  cost: "0",
  marketCost: "0.000023772",
  surchargeCost: "0",
  gatewayCost: "0",
  generationId: "gen_benchmark0001",
};

/** Throws unless the answers are the ones that the server was told to give. */
export type VerifyAnswers = (answers: GivenAnswers) => void;

/** Makes a check that is cheap enough to run on every call: one value of each answer. */
export function verifierFor(questions: Questions): VerifyAnswers {
  const entries = Object.entries(sampleAnswers(questions));
  const expected = entries.map(([id, answer]) => decisiveValue(id, answer));
  return (answers) => {
    for (const { id, field, vendorField, value } of expected) {
      const answer = answers[id] as Record<string, unknown> | undefined;
      if (answer?.[field] === value || answer?.[vendorField] === value) continue;
      throw new Error(
        `Not the answer expected to ${JSON.stringify(id)}: ${JSON.stringify(answer)} instead of ${JSON.stringify(value)}.`,
      );
    }
  };
}

function decisiveValue(id: string, answer: Answer) {
  const { type } = answer;
  if (type === "choice") return { id, field: type, vendorField: type, value: answer.choice };
  if (type === "score") return { id, field: type, vendorField: type, value: answer.score };
  return { id, field: "probability", vendorField: "noul", value: answer.probability };
}
