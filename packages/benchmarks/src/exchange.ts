import type { Questions } from "evaluator-client";

/** The state of one triage call (contract section 4.7). */
export interface MailState {
  readonly [field: string]: string;
  readonly from: string;
  readonly subject: string;
  readonly date: string;
  readonly snippet: string;
}

/** Returns the mail with this number; no two are equal, so nothing can be serialised once for all. */
export function mailState(index: number): MailState {
  return {
    from: `Cloudlark Accounts <no-reply-${index}@accounts.cloudlark.example>`,
    subject: `Security alert ${index}: an app was given access to your account`,
    date: "2026-03-02",
    snippet: `Calendar Bridge ${index} was given access to your Cloudlark account. If you did not allow this, your account may be at risk: check the activity and remove the access now. You received this message to let you know about important changes to your account.`,
  };
}

/** Returns the four triage questions (contract section 4.7), as new objects at each call. */
export function triageQuestions(): Questions {
  return {
    category: {
      type: "choice",
      instructions: "What kind of email is this, received by the user?",
      criteria: {
        security_alert: "account security or sign-in notice from a service the user uses",
        receipt: "payment receipt, invoice, billing notice",
        service_notice: "product, policy or terms change",
        newsletter: "digest, marketing, promotion",
        personal_reminder: "reminder or task sent by the user or a family member to the user",
        business_inquiry: "person or company asking for work, contract or deal",
        other: "none of the above",
      },
    },
    importance: {
      type: "score",
      instructions: "How important is it that the user personally reads this email?",
      criteria: [
        "ignore: no action and no information needed",
        "low: informational, skim later",
        "medium: worth reading this week",
        "high: needs action or reply within a few days",
        "critical: needs action today; money, security or a deadline at stake",
        "insane: needs response within 30 minutes or bad things happen",
      ],
    },
    brand_deal: {
      type: "boolean",
      instructions: "Does the email mention a sponsorship or brand deal opportunity for the user?",
    },
    scam: {
      type: "boolean",
      instructions: "Does the email look like a scam, phishing, or something untrustworthy?",
    },
  };
}

/** The router's question (contract section 4.6), as far as its answer depends on it. */
export const tierQuestions: Questions = {
  tier: {
    type: "choice",
    instructions: "Which model tier is the cheapest one that can answer the message well?",
    criteria: {
      nano: "greeting, small talk, one-line fact, trivial request",
      fast: "simple question or short task with a clear answer, no deep reasoning",
      balanced: "needs real reasoning, planning, careful explanation, or writing code",
      frontier: "large multi-step or high-stakes work where a wrong answer is costly",
    },
  },
};

/** The text that every reply of the canned text model consists of. */
export const replyText = "Hello! How can I help you today?";

/** The body of a text model's whole reply (field facts: language model specification v4). */
export const replyBody = {
  content: [{ type: "text", text: replyText }],
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 12, noCache: 12, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 9, text: 9, reasoning: 0 },
  },
  warnings: [],
};

/** How many questions a request carries, and how many options each has. */
export interface QuestionShape {
  readonly questions: number;
  readonly options: number;
}

/** Returns as many choice questions with as many options as the shape says. */
export function choiceQuestions({ questions, options }: QuestionShape): Questions {
  const ids = Array.from({ length: questions }, (_, index) => `question_${index}`);
  return Object.fromEntries(ids.map((id) => [id, choiceOf(id, options)]));
}

function choiceOf(id: string, options: number): Questions[string] {
  const names = Array.from({ length: options }, (_, index) => `option_${index}`);
  return {
    type: "choice",
    instructions: `Which option fits the email best, as far as ${id} goes?`,
    criteria: Object.fromEntries(names.map((name) => [name, `what ${name} stands for`])),
  };
}

/** The key that every target sends; the canned server takes any. */
export const apiKey = "benchmark-key";

/** The six headers of contract section 4.1, as one writes them by hand. */
export const gatewayHeaders = {
  Authorization: `Bearer ${apiKey}`,
  "ai-model-id": "typesafe-ai/jev",
  "ai-evaluation-model-specification-version": "4",
  "ai-gateway-protocol-version": "0.0.1",
  "ai-gateway-auth-method": "api-key",
  "Content-Type": "application/json",
};

/** The answers as a library gives them, read to the end: question id to answer. */
export type GivenAnswers = Readonly<Record<string, object>>;
