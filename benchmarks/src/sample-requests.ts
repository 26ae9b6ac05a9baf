import type { Questions } from "evaluator-client";
import mail from "evaluator-fixtures/exchanges/gateway/consent-alert-first-of-thread.json" with { type: "json" };

// The apps send these requests, and the canned server answers them as these exchanges do.

/** The exchange with the triage's questions about a mail, and the one with the router's about a message. */
export const sampleExchanges = {
  mail: "consent-alert-first-of-thread",
  message: "greeting-routes-to-nano",
} as const;

/**
 * Returns the state of one triage call (contract section 4.7): the mail with this number. No two are
 * equal, so nothing can be serialised once for all.
 */
export function mailState(index: number) {
  return {
    from: `Cloudlark Accounts <no-reply-${index}@accounts.cloudlark.example>`,
    subject: `Security alert ${index}: an app was given access to your account`,
    date: "2026-03-02",
    snippet: `Calendar Bridge ${index} was given access to your Cloudlark account. If you did not allow this, your account may be at risk: check the activity and remove the access now. You received this message to let you know about important changes to your account.`,
  };
}

/** The four triage questions (contract section 4.7). */
export const triageQuestions = mail.request.body.questions as Questions;

/** The text that every reply of the canned text model consists of. */
export const replyText = "Hello! How can I help you today?";

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
