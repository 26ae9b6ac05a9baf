import type { Evaluation } from "evaluator-client";
import type { Mail } from "../input/mail.ts";
import type { TriageQuestions } from "../triage-questions.ts";

/** One output record; fields and their order are the contract's (section 4.7). */
export interface TriageRecord {
  id: string;
  date: string;
  from: string;
  subject: string;
  /** The picked option of the category question. */
  category: string;
  /** 0..1, or null when the service gave none. */
  categoryConf: number | null;
  /** Mean level, 0..5. */
  importance: number;
  /** 0..1, or null when the service gave none. */
  importanceConf: number | null;
  /** Probability, 0..1. */
  brandDeal: number;
  /** Probability, 0..1. */
  scam: number;
}

/** Gives the output record of a mail and the answers about it. */
export function toTriageRecord(
  { id, date, from, subject }: Mail,
  { answers, confidence }: Evaluation<TriageQuestions>,
): TriageRecord {
  return {
    id,
    date,
    from,
    subject,
    category: answers.category.choice,
    categoryConf: confidence.category,
    importance: answers.importance.score,
    importanceConf: confidence.importance,
    brandDeal: answers.brand_deal.probability,
    scam: answers.scam.probability,
  };
}
