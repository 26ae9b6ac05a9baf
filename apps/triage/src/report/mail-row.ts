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

/** The lowest probability of a yes. */
export const YES = 0.5;

/** Returns the index of a value's option or nearest level; of a probability 0 for yes, -1 for no. */
export function pickOf({ form }: ShownQuestion, value: number): number {
  return form === "probability" ? (value >= YES ? 0 : -1) : Math.round(value);
}

// The texts of a row, all printable. A new text is named here, filled by toMailRow and shown by mailItem.
const texts = [
  "id",
  // The day it was received, and how far its date is from that day, if it is far.
  "day",
  "dated",
  // The sender's name or else address, and the address if the sender is shown by name.
  "sender",
  "address",
  "subject",
  "snippet",
  // The place in its export, if known.
  "location",
  // The reason for a missing answer.
  "error",
] as const;
/** Whether the name shows another address, as a forger's does; whether the mail is new; whether Gmail may have it. */
const flags = ["isMasked", "isNew", "isOfGmail"] as const;

/** A row without its answers, which take ten times as long to unpack. */
type RowHead = Readonly<Record<(typeof texts)[number], string>> &
  Readonly<Record<(typeof flags)[number], boolean>> & {
    /** The index of the rule that takes it; -1 for none. */
    readonly rule: number;
  };

/** A mail as the page shows it. */
export interface MailRow extends RowHead {
  /** In the order of the questions; null without an answer. */
  readonly answers: readonly ShownAnswer[] | null;
}

/** Answers are packed as whole thousandths: services print hundredths, calibrations many more digits. */
const UNIT = 1000;
const NOTHING = -1;

/** A row without its names: the texts, the flags, the rule, and the numbers of the answers. */
export type PackedRow = readonly (string | number | boolean | readonly number[] | null)[];

/** Returns a row as JSON without names, which is half as long. */
export function packRow(row: MailRow): string {
  const numbers = row.answers?.flatMap(({ value, confidence, printed, shares }) =>
    [value, confidence, printed, ...shares].map(toUnits),
  );
  const values = [...texts, ...flags].map((name) => row[name]);
  return JSON.stringify([...values, row.rule, numbers ?? null] satisfies PackedRow);
}

function toUnits(value: number | null): number {
  return value === null ? NOTHING : Math.round(UNIT * value);
}

/** Rounds a value as packing does, so that all parts of a page count the same. */
export function toPackedValue(value: number): number {
  return toUnits(value) / UNIT;
}

/** Returns a packed row without its answers. */
export function unpackHead(packed: PackedRow): RowHead {
  const names = [...texts, ...flags, "rule"];
  return Object.fromEntries(names.map((name, at) => [name, packed[at]])) as unknown as RowHead;
}

function numbersOf(packed: PackedRow): readonly number[] | null {
  return packed.at(-1) as readonly number[] | null;
}

/** Returns the value of one question in a packed row; null without an answer. */
export function unpackValue(
  packed: PackedRow,
  at: number,
  questions: readonly ShownQuestion[],
): number | null {
  const before = questions.slice(0, at).reduce((sum, { names }) => sum + 3 + names.length, 0);
  const value = numbersOf(packed)?.[before];
  return value === undefined ? null : value / UNIT;
}

/** Returns the row that was packed. */
export function unpackRow(packed: PackedRow, questions: readonly ShownQuestion[]): MailRow {
  const numbers = numbersOf(packed);
  if (numbers === null) return { ...unpackHead(packed), answers: null };
  let at = 0;
  const take = () => (numbers[at++] ?? 0) / UNIT;
  const takeOrNull = () => (numbers[at] === NOTHING ? (at++, null) : take());
  const answers = questions.map(({ names }) => ({
    value: take(),
    confidence: takeOrNull(),
    printed: takeOrNull(),
    shares: names.map(take),
  }));
  return { ...unpackHead(packed), answers };
}

/** Below this a confidence is low. */
export const LOW_CONFIDENCE = 0.5;
/** Within this of one half a probability is undecided. */
export const UNDECIDED_WITHIN = 0.2;
// As floating-point numbers, 0.7 - 0.5 is less than 0.2.
const EPSILON = 1e-9;

/** Describes doubtful answers: low confidences, and probabilities around one half. */
export function doubtsOf(
  answers: readonly ShownAnswer[],
  questions: readonly ShownQuestion[],
): string[] {
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
