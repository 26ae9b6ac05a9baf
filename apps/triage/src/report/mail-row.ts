/** A question, as the page shows its answers. It runs in a browser too, as the next files do. */
export interface ShownQuestion {
  readonly id: string;
  readonly title: string;
  readonly type: "choice" | "score" | "boolean";
  /** The options or the labels of the levels, in order; none for a boolean. */
  readonly names: readonly string[];
}

/** An answer: the index of the option, the mean level or the probability, and what stands behind it. */
export interface ShownAnswer {
  readonly value: number;
  readonly confidence: number | null;
  /** The value as it came, where a calibration changed it. */
  readonly printed: number | null;
  /** Of each option or level; none for a boolean. */
  readonly shares: readonly number[];
}

/** From this probability on it is yes. */
export const YES = 0.5;

/** Returns the option of a value: of a score the level nearest to its mean, of a boolean 0 for yes, -1 for no. */
export function pickOf({ type }: ShownQuestion, value: number): number {
  return type === "boolean" ? (value >= YES ? 0 : -1) : Math.round(value);
}

/** A mail as the page shows it; its texts are printable. */
export interface MailRow {
  readonly id: string;
  /** The day it was received. */
  readonly day: string;
  /** How far its date is from that day, in words; empty if it is near. */
  readonly dated: string;
  /** The sender's name, or the address where there is none. */
  readonly sender: string;
  /** The sender's address where it is not the name. */
  readonly address: string;
  /** Whether the name shows another address, as a forger's does. */
  readonly isMasked: boolean;
  readonly subject: string;
  readonly snippet: string;
  readonly isNew: boolean;
  /** The index of the rule that takes it; -1 for none. */
  readonly rule: number;
  /** Whether Gmail may have it. */
  readonly isOfGmail: boolean;
  /** Where it stands in its export, if anything says it. */
  readonly location: string;
  /** In the order of the questions; null without an answer. */
  readonly answers: readonly ShownAnswer[] | null;
  /** Why there is no answer. */
  readonly error: string;
}

/** Answers are packed as whole thousandths; a service prints hundredths, a calibration no end of digits. */
const UNIT = 1000;
const NOTHING = -1;
const [IS_MASKED, IS_NEW, IS_OF_GMAIL] = [1, 2, 4] as const;

/** A row as it is kept. */
export type PackedRow = readonly [
  ...texts: [string, string, string, string, string, string, string, string, string],
  flags: number,
  rule: number,
  numbers: readonly number[] | null,
];

// Where the numbers stand in a kept row.
const NUMBERS = 11;

/** Returns a row as JSON, in half of the room that its names would take. */
export function packRow(row: MailRow): string {
  const { id, day, dated, sender, address, subject, snippet, location, error } = row;
  const texts = JSON.stringify([
    id,
    day,
    dated,
    sender,
    address,
    subject,
    snippet,
    location,
    error,
  ]);
  const flags =
    (row.isMasked ? IS_MASKED : 0) + (row.isNew ? IS_NEW : 0) + (row.isOfGmail ? IS_OF_GMAIL : 0);
  const numbers = row.answers === null ? "null" : `[${packAnswers(row.answers).join()}]`;
  return `${texts.slice(0, -1)},${flags},${row.rule},${numbers}]`;
}

function packAnswers(answers: readonly ShownAnswer[]): number[] {
  const numbers: number[] = [];
  for (const { value, confidence, printed, shares } of answers) {
    numbers.push(toUnits(value), toUnits(confidence), toUnits(printed));
    for (const share of shares) numbers.push(toUnits(share));
  }
  return numbers;
}

function toUnits(value: number | null): number {
  return value === null ? NOTHING : Math.round(UNIT * value);
}

/** Returns a value as it is after packing, so that all parts of a page count the same. */
export function toPackedValue(value: number): number {
  return toUnits(value) / UNIT;
}

/** What a search reads of a row; all of a row takes ten times as long. */
export type RowHead = Pick<MailRow, "day" | "sender" | "address" | "subject" | "snippet" | "isNew">;

/** Returns what a search reads of a row that was packed. */
export function unpackHead(packed: PackedRow): RowHead {
  const [, day, , sender, address, subject, snippet, , , flags] = packed;
  return { day, sender, address, subject, snippet, isNew: (flags & IS_NEW) !== 0 };
}

/** Returns the value of one question in a row that was packed; null without an answer. */
export function unpackValue(
  packed: PackedRow,
  at: number,
  questions: readonly ShownQuestion[],
): number | null {
  const before = questions.slice(0, at).reduce((sum, { names }) => sum + 3 + names.length, 0);
  const value = packed[NUMBERS]?.[before];
  return value === undefined ? null : value / UNIT;
}

/** Returns the row that was packed. */
export function unpackRow(packed: PackedRow, questions: readonly ShownQuestion[]): MailRow {
  const [id, day, dated, sender, address, subject, snippet, location, error, ...rest] = packed;
  const [flags, rule, numbers] = rest;
  const answers = numbers === null ? null : unpackAnswers(numbers, questions);
  const texts = { id, day, dated, sender, address, subject, snippet, location, error };
  return {
    ...texts,
    isMasked: (flags & IS_MASKED) !== 0,
    isNew: (flags & IS_NEW) !== 0,
    isOfGmail: (flags & IS_OF_GMAIL) !== 0,
    rule,
    answers,
  };
}

function unpackAnswers(
  numbers: readonly number[],
  questions: readonly ShownQuestion[],
): ShownAnswer[] {
  let at = 0;
  const take = () => (numbers[at++] ?? 0) / UNIT;
  const takeOrNull = () => (numbers[at] === NOTHING ? (at++, null) : take());
  return questions.map(({ names }) => ({
    value: take(),
    confidence: takeOrNull(),
    printed: takeOrNull(),
    shares: names.map(take),
  }));
}
