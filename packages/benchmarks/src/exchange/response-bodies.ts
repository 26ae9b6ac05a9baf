import type { Answer, Question, Questions } from "evaluator-client";

const usage = { inputTokens: 566, outputTokens: 92 };

/** The gateway's response body to questions that are answered so (contract sections 2.3 and 2.5). */
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
export function directBody(
  answers: Readonly<Record<string, Answer>>,
  questions: Questions,
): object {
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
