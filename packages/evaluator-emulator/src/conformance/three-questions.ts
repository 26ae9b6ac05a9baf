/** One question of each type, as every generation of the `ai` package asks it. */
export const threeQuestions = {
  tier: {
    type: "choice",
    instructions: "Which tier?",
    criteria: { nano: "greeting", balanced: "writing code" },
  },
  urgency: { type: "score", instructions: "How urgent?", criteria: ["not urgent", "emergency"] },
  scam: { type: "boolean", instructions: "Is it a scam?" },
} as const;
