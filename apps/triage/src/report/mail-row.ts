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

/** A mail as the page shows it; its texts are printable. */
export interface MailRow {
  readonly id: string;
  readonly day: string;
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
  /** Where Gmail shows it; empty for a mail that is elsewhere. */
  readonly link: string;
  /** Where it stands in its export, if anything says it. */
  readonly place: string;
  /** In the order of the questions; null without an answer. */
  readonly answers: readonly ShownAnswer[] | null;
  /** Why there is no answer. */
  readonly error: string;
}

// Without its names a row takes half of the room.
type PackedAnswer = readonly [number, number | null, number | null, readonly number[]];
type PackedRow = readonly [
  string,
  string,
  string,
  string,
  0 | 1,
  string,
  string,
  0 | 1,
  number,
  string,
  string,
  readonly PackedAnswer[] | null,
  string,
];

/** Returns a row as JSON. */
export function packRow(row: MailRow): string {
  const { id, day, sender, address, subject, snippet, rule, link, place, error } = row;
  const flags = [row.isMasked ? 1 : 0, row.isNew ? 1 : 0] as const;
  const answers =
    row.answers?.map(
      ({ value, confidence, printed, shares }) => [value, confidence, printed, shares] as const,
    ) ?? null;
  const packed: PackedRow = [
    ...[id, day, sender, address, flags[0], subject, snippet] as const,
    ...[flags[1], rule, link, place, answers, error] as const,
  ];
  return JSON.stringify(packed);
}

/** Returns the row that was packed. */
export function unpackRow(packed: unknown): MailRow {
  const [id, day, sender, address, isMasked, subject, snippet, ...rest] = packed as PackedRow;
  const [isNew, rule, link, place, answers, error] = rest;
  return {
    ...{ id, day, sender, address, subject, snippet, rule, link, place, error },
    isMasked: isMasked === 1,
    isNew: isNew === 1,
    answers:
      answers?.map(([value, confidence, printed, shares]) => {
        return { value, confidence, printed, shares };
      }) ?? null,
  };
}

/** Below this a confidence is low. */
export const LOW_CONFIDENCE = 0.5;
/** Within this of one half a probability is undecided. */
export const UNDECIDED_WITHIN = 0.2;
// 0.7 - 0.5 is a little less than 0.2 for a computer, and not for a person.
const EPSILON = 1e-9;

/** Returns in words what the model was unsure of: low confidences, and probabilities around one half. */
export function doubtsOf(
  answers: readonly ShownAnswer[],
  questions: readonly ShownQuestion[],
): string[] {
  return questions.flatMap(({ title, type }, at) => {
    const answer = answers[at];
    if (answer === undefined) return [];
    const { value, confidence, shares } = answer;
    const what = title.toLowerCase();
    if (type === "boolean") {
      const isOpen = Math.abs(value - 0.5) < UNDECIDED_WITHIN - EPSILON;
      return isOpen ? [`${what} ${value.toFixed(2)}`] : [];
    }
    if (confidence !== null) {
      return confidence < LOW_CONFIDENCE ? [`${what} conf ${confidence.toFixed(2)}`] : [];
    }
    // An engine that gives none: an option that has less than half has more against it than for it.
    const share = shares[value] ?? 1;
    return type === "choice" && share < 0.5 ? [`${what} share ${share.toFixed(2)}`] : [];
  });
}
