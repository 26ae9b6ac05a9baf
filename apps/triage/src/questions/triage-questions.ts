import { boolean, choice, score } from "evaluator-client";

/** Returns the four questions of the triage about a user's mailbox (contract section 4.7). */
export function triageQuestions(userName: string) {
  return {
    category: choice(`What kind of email is this, received by ${userName}?`, {
      security_alert: "account security or sign-in notice from a service the user uses",
      receipt: "payment receipt, invoice, billing notice",
      service_notice: "product, policy or terms change",
      newsletter: "digest, marketing, promotion",
      personal_reminder: "reminder or task sent by the user or a family member to the user",
      business_inquiry: "person or company asking for work, contract or deal",
      other: "none of the above",
    }),
    importance: score(`How important is it that ${userName} personally reads this email?`, [
      "ignore: no action and no information needed",
      "low: informational, skim later",
      "medium: worth reading this week",
      "high: needs action or reply within a few days",
      "critical: needs action today; money, security or a deadline at stake",
      "insane: needs response within 30 minutes or bad things happen",
    ]),
    brand_deal: boolean(
      `Does the email mention a sponsorship or brand deal opportunity for ${userName}?`,
    ),
    scam: boolean("Does the email look like a scam, phishing, or something untrustworthy?"),
  };
}
