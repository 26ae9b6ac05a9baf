/** What the model says about one mail. */
export interface SampleAnswers {
  importance?: number;
  confidence?: Record<string, number>;
}

const options = [
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
  const kinds = options.map((option) => [option, option === "receipt" ? 1 : 0]);
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
