import type { linkTo } from "./mail-links.ts";

/** A question as the page shows it. This file also runs in the browser. */
export interface ShownQuestion {
  readonly id: string;
  readonly title: string;
  /** The name of its kind, to print. */
  readonly type: string;
  readonly form: "option" | "number" | "probability";
  /** The options or the labels of the levels, in order; none for a probability. */
  readonly names: readonly string[];
}

/** An answer: the index of the option, the mean level or the probability, with its distribution. */
export interface ShownAnswer {
  readonly value: number;
  readonly confidence: number | null;
  /** The value before a calibration changed it. */
  readonly printed: number | null;
  /** The probability of each option or level; empty for a boolean. */
  readonly shares: readonly number[];
}

/** A mail as the page shows it; its texts are printable. */
export interface MailRow {
  readonly id: string;
  /** The day it was received. */
  readonly day: string;
  /** How far its date is from that day, if it is far. */
  readonly dated: string;
  /** The sender's name, else address. */
  readonly sender: string;
  /** The address if the sender is shown by name. */
  readonly address: string;
  /** Whether the name shows another address, as a forger's does. */
  readonly isMasked: boolean;
  /** The results of SPF, DKIM and DMARC, and the signs of a forged sender. */
  readonly checks: string;
  readonly signs: readonly string[];
  readonly subject: string;
  readonly snippet: string;
  readonly isNew: boolean;
  /** The index of the rule that takes it; -1 for none. */
  readonly rule: number;
  /** The link that opens it, if there is one. */
  readonly link: ReturnType<typeof linkTo>;
  /** The place in its export, if known. */
  readonly location: string;
  /** In the order of the questions; null without an answer. */
  readonly answers: readonly ShownAnswer[] | null;
  /** The reason for a missing answer. */
  readonly error: string;
}

/** A mail in the list, after all mails are known. */
export interface ListedRow extends MailRow {
  readonly thread: number;
  /** Its place in its thread; the highest mail has 1. */
  readonly place: number;
  /** The number of mails in its thread. */
  readonly mails: number;
  /** Whose answer its thread waits for; empty if the user wrote none of its mails. */
  readonly waiting: "" | "you" | "them";
  /** 1 for the first mail of its sender. */
  readonly isFirst: number;
}

/** The lowest probability of a yes. */
export const YES = 0.5;

/** Returns the index of a value's option or nearest level; of a probability 0 for yes, -1 for no. */
export function computePick({ form }: ShownQuestion, value: number): number {
  return form === "probability" ? (value >= YES ? 0 : -1) : Math.round(value);
}

const LOW_CONFIDENCE = 0.5;
const UNDECIDED_WITHIN = 0.2;
// As floating-point numbers, 0.7 - 0.5 is less than 0.2.
const EPSILON = 1e-9;

/** The rule of {@link listDoubts} in words. */
export const doubtRule = `a confidence below ${LOW_CONFIDENCE}, or a probability within ${UNDECIDED_WITHIN} of one half`;

/** Describes doubtful answers: low confidences, and probabilities around one half. */
export function listDoubts(answers: readonly ShownAnswer[], questions: readonly ShownQuestion[]) {
  return questions.flatMap(({ title, form }, at) => {
    const answer = answers[at];
    if (answer === undefined) return [];
    const { value, confidence, shares } = answer;
    const what = title.toLowerCase();
    if (form === "probability") {
      const isOpen = Math.abs(value - 0.5) < UNDECIDED_WITHIN - EPSILON;
      return isOpen ? [`${what} ${value.toFixed(2)}`] : [];
    }
    if (confidence !== null) {
      return confidence < LOW_CONFIDENCE ? [`${what} conf ${confidence.toFixed(2)}`] : [];
    }
    // Without a confidence: an option below one half is more likely wrong than right.
    const share = shares[value] ?? 1;
    return form === "option" && share < 0.5 ? [`${what} share ${share.toFixed(2)}`] : [];
  });
}
