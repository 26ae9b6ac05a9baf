import { describe, expect, test } from "vitest";
import type { QuestionInput } from "../questions/kinds/kinds.ts";
import { answerRequest } from "./answer-request.ts";

const tierQuestion: QuestionInput = {
  type: "choice",
  instructions: "Which model tier is the cheapest one that can answer the message well?",
  criteria: {
    nano: "greeting, small talk, one-line fact, trivial request",
    fast: "simple question or short task with a clear answer, no deep reasoning",
    balanced: "needs real reasoning, planning, careful explanation, or writing code",
    frontier:
      "large multi-step or high-stakes work where a wrong answer is costly (a complete system, hard math, a long document)",
  },
};

const categoryQuestion: QuestionInput = {
  type: "choice",
  instructions: "What kind of email is this?",
  criteria: {
    security_alert: "account security or sign-in notice from a service the user uses",
    receipt: "payment receipt, invoice, billing notice",
    service_notice: "product, policy or terms change",
    newsletter: "digest, marketing, promotion",
    personal_reminder: "reminder or task sent by the user or a family member to the user",
    business_inquiry: "person or company asking for work, contract or deal",
    other: "none of the above",
  },
};

function judge(state: string | Record<string, string>, asked: QuestionInput) {
  const { answers, basis } = answerRequest(
    { state, questions: { asked } },
    { recorded: () => null, ruled: () => null, decimals: 15, confidence: true },
  );
  const probabilities = Object.values(answers["asked"]?.probabilities ?? {});
  return { probabilities, isInformed: basis !== "none" };
}

function ask(state: string | Record<string, string>, question: QuestionInput) {
  const { probabilities, isInformed } = judge(state, question);
  const names = Object.keys(question.criteria ?? {});
  const ranked = names
    .map((name, index) => ({ name, probability: probabilities[index] ?? 0 }))
    .toSorted((left, right) => right.probability - left.probability);
  return { probabilities, isInformed, ranking: ranked.map(({ name }) => name) };
}

function askYesNo(instructions: string, state: string): number {
  const criteria = { true: null, false: null };
  const question: QuestionInput = { type: "boolean", instructions, criteria };
  return judge(state, question).probabilities[0] ?? Number.NaN;
}

describe("the tier of a chat message", () => {
  test.each([
    ["hi", "nano"],
    ["Hello there, how are you?", "nano"],
    ["thanks!", "nano"],
    ["What is the capital of France?", "fast"],
    ["who wrote hamlet", "fast"],
    ["Translate 'where is the station' to French", "fast"],
    ["Write a function that reverses a string in Python", "balanced"],
    ["Plan a three-day trip to Lisbon", "balanced"],
    ["Explain the trade-offs between SQL and NoSQL", "balanced"],
    ["Build a complete e-commerce platform with payments and an admin backend", "frontier"],
    ["Prove that there are infinitely many primes", "frontier"],
  ])("%s -> %s", (message, tier) => {
    expect(ask({ user_message: message }, tierQuestion).ranking[0]).toBe(tier);
  });

  test("a request for perfect complete code gives balanced and frontier the top two shares", () => {
    const message = "Write perfect, complete, production-ready code for a todo app with tests";
    const { ranking } = ask({ user_message: message }, tierQuestion);
    expect(ranking.slice(0, 2).toSorted()).toEqual(["balanced", "frontier"]);
  });
});

describe("the category of a mail", () => {
  test.each([
    ["New sign-in to your account. We noticed a new device.", "security_alert"],
    ["Your receipt from Acme. Amount paid $20.00. Thank you for your order.", "receipt"],
    ["Updating our terms of service. We are changing our privacy policy.", "service_notice"],
    ["This week in tech: the weekly digest. Unsubscribe", "newsletter"],
    ["Flash sale: 50% off everything. Limited time discount", "newsletter"],
    ["Don't forget: dentist tomorrow at 9, bring the insurance card", "personal_reminder"],
    ["We would like to hire you for a consulting project. What is your rate?", "business_inquiry"],
  ])("%s -> %s", (mail, category) => {
    expect(ask({ from: "someone", snippet: mail }, categoryQuestion).ranking[0]).toBe(category);
  });
});

test("a yes/no question leans to yes where the text shows what it asks about, else to no", () => {
  const scam = "Does the email look like a scam, phishing, or something untrustworthy?";
  const lottery = "You have won the lottery. Kindly send a processing fee to claim your prize.";
  expect(askYesNo(scam, lottery)).toBe(0.8);
  expect(askYesNo(scam, "Lunch on Thursday?")).toBeLessThan(0.3);
});

test("with nothing to go on every answer is exactly uniform", () => {
  const choice = ask("qwertz", tierQuestion);
  expect(choice).toMatchObject({ isInformed: false, probabilities: [0.25, 0.25, 0.25, 0.25] });
  const levels: QuestionInput = { type: "score", instructions: null, criteria: ["low", "high"] };
  expect(ask("qwertz", levels)).toMatchObject({ isInformed: false, probabilities: [0.5, 0.5] });
  expect(askYesNo("Zzz?", "qwertz")).toBe(0.5);
  expect(askYesNo("Is it a scam?", "")).toBe(0.5);
});

test("a choice never passes 0.85, a yes/no answer stays within 0.2 and 0.8", () => {
  const invoice = "receipt invoice billing payment order total refund $ purchase";
  expect(Math.max(...ask(invoice, categoryQuestion).probabilities)).toBe(0.85);
  expect(askYesNo("Is it an invoice, receipt or billing?", invoice)).toBe(0.8);
});

test("every distribution sums to 1", () => {
  for (const state of ["hi", "Write a function", "nothing", "", "receipt and a sign-in, hello"]) {
    for (const question of [tierQuestion, categoryQuestion]) {
      const { probabilities } = judge(state, question);
      expect(probabilities.reduce((total, share) => total + share, 0)).toBeCloseTo(1, 12);
    }
  }
});

test("levels share with their neighbours, so a score lies between them", () => {
  const question: QuestionInput = {
    type: "score",
    instructions: "How urgent?",
    criteria: ["not urgent", "soon", "emergency"],
  };
  const [low = 0, middle = 0, high = 0] = ask(
    "There is a fire, call an ambulance",
    question,
  ).probabilities;
  expect(high).toBeGreaterThan(middle);
  expect(middle).toBeGreaterThan(low);
});

test("case and accents make no difference", () => {
  const question: QuestionInput = {
    type: "choice",
    instructions: null,
    criteria: { cafe: null, pub: null },
  };
  expect(ask("Meet me at the CAFÉ", question).ranking[0]).toBe("cafe");
});

test("descriptions of yes and no are weighed against each other", () => {
  const question: QuestionInput = {
    type: "boolean",
    instructions: "Which is it?",
    criteria: { true: "about elephants", false: "about submarines" },
  };
  expect(judge("the submarine dives", question).probabilities[0]).toBeLessThan(0.5);
  expect(judge("the elephant walks", question).probabilities[0]).toBeGreaterThan(0.5);
});
