/** A question, as the page shows its answers. It runs in a browser too, as the next files do. */
export interface ShownQuestion {
  readonly id: string;
  readonly title: string;
  /** The name of its kind, to print. */
  readonly type: string;
  readonly form: "option" | "number" | "probability";
  /** The options or the labels of the levels, in order; none for a probability. */
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

/** Returns the index of a value's option or nearest level; of a probability 0 for yes, -1 for no. */
export function pickOf({ form }: ShownQuestion, value: number): number {
  return form === "probability" ? (value >= YES ? 0 : -1) : Math.round(value);
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
const texts = [
  "id",
  "day",
  "dated",
  "sender",
  "address",
  "subject",
  "snippet",
  "location",
  "error",
] as const satisfies (keyof MailRow)[];
const flags = ["isMasked", "isNew", "isOfGmail"] as const satisfies (keyof MailRow)[];

/** A row without its names: the texts, the flags, the rule, and the numbers of the answers. */
export type PackedRow = readonly (string | number | boolean | readonly number[] | null)[];

/** Returns a row as JSON, in half of the room that its names would take. */
export function packRow(row: MailRow): string {
  const numbers = row.answers === null ? null : packAnswers(row.answers);
  const values = [...texts, ...flags].map((name) => row[name]);
  return JSON.stringify([...values, row.rule, numbers] satisfies PackedRow);
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

/** A row without its answers, which take ten times as long to unpack. */
export type RowHead = Omit<MailRow, "answers">;

/** Returns a packed row without its answers. */
export function unpackHead(packed: PackedRow): RowHead {
  const names = [...texts, ...flags, "rule"];
  return Object.fromEntries(names.map((name, at) => [name, packed[at]])) as unknown as RowHead;
}

function numbersOf(packed: PackedRow): readonly number[] | null {
  return packed[texts.length + flags.length + 1] as readonly number[] | null;
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
  const answers = numbers === null ? null : unpackAnswers(numbers, questions);
  return { ...unpackHead(packed), answers };
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
