import { InvalidResponseError } from "../../errors.ts";
import { rejectAnswer } from "../../questions/rejections.ts";
import type { LabelSession } from "./label-session.ts";
import type { QuestionPlan, Reading } from "./question-plan.ts";
import { combineReadings, readLabels } from "./read-labels.ts";

type ReadingSet = QuestionPlan["whole"];

interface AskedQuestion {
  readonly id: string;
  readonly session: LabelSession;
  /** The least total probability of the labels. */
  readonly minLabelMass: number;
}

/** The reading of one answer, as `providerMetadata` contains it; docs/engines.md has a table of it. */
interface AnswerDetails {
  readonly labelMass: number;
  readonly truncated: boolean;
  readonly debias: ReadingSet["debias"];
  readonly flips: boolean;
  readonly unresolvedMass: number;
  readonly calls: number;
}

/** The most that unlisted labels may have, as a share. Chosen: two units of a printed probability. */
const MOST_UNSEEN = 0.02;
/** The probability that the opened blocks must cover. */
const ENOUGH_COVERED = 0.98;

/** Returns the probability of each option or level by its position; for a boolean, of no and of yes. */
export async function askQuestion({ whole, blocks }: QuestionPlan, question: AskedQuestion) {
  if (blocks === undefined) return askSet(whole, question);
  return (await askNumbered(whole, question)) ?? askBlocks(blocks, question);
}

/** Asks for all options at once; null if the server cannot list a single token for each. */
async function askNumbered(numberedReadingSet: ReadingSet, question: AskedQuestion) {
  const labels = numberedReadingSet.readings[0]?.labels ?? [];
  if (!(await question.session.areSingleTokens(labels))) return null;
  return askSet(numberedReadingSet, question).catch((error: unknown) => {
    if (error instanceof InvalidResponseError && error.rule === "readout-truncated") return null;
    throw error;
  });
}

/** Asks for the block, then within the likeliest blocks: p = p(block) × p(option | block). */
async function askBlocks(
  { groups, members }: NonNullable<QuestionPlan["blocks"]>,
  question: AskedQuestion,
) {
  const group = await askSet(groups, question);
  const openedNames = likeliest(group.probabilities);
  const inside = await Promise.all(
    members.map(async ({ set }, block) => (openedNames.has(block) ? askSet(set, question) : null)),
  );
  const probabilities: number[] = [];
  let unresolvedMass = 0;
  for (const [block, { options }] of members.entries()) {
    const mass = group.probabilities[block] as number;
    const within = inside[block]?.probabilities;
    if (within === undefined) unresolvedMass += mass;
    for (const [index, option] of options.entries()) {
      probabilities[option] = mass * (within?.[index] ?? 1 / options.length);
    }
  }
  const details = [group, ...inside].flatMap((answer) => answer?.details ?? []);
  return { probabilities, details: { ...joinDetails(details), unresolvedMass } };
}

function likeliest(probabilities: readonly number[]): ReadonlySet<number> {
  const rankedValues = [...probabilities.keys()].toSorted(
    (a, b) => (probabilities[b] as number) - (probabilities[a] as number),
  );
  const openedNames = new Set<number>();
  let coveredValue = 0;
  for (const block of rankedValues) {
    if (coveredValue >= ENOUGH_COVERED) break;
    coveredValue += probabilities[block] as number;
    openedNames.add(block);
  }
  return openedNames;
}

async function askSet(set: ReadingSet, question: AskedQuestion) {
  const doneReadings = await Promise.all(
    set.readings.map(async (reading) => ({ reading, ...(await readOnce(reading, question)) })),
  );
  const { probabilities, flips } = combineReadings(doneReadings);
  const { debias } = set;
  const details = doneReadings.map(({ labels: { labelMass, unseenShare }, calls }) => {
    const isTruncated = unseenShare > 0;
    return { labelMass, truncated: isTruncated, debias, flips, unresolvedMass: 0, calls };
  });
  return { probabilities, details: joinDetails(details) };
}

/** Makes one reading, with longer lists until the labels are listed. */
async function readOnce(reading: Reading, question: AskedQuestion) {
  const { id: questionId, session } = question;
  const tokenIds = await session.tokensOf(reading);
  for (let calls = 1; ; calls += 1) {
    const depth = session.server.depths[calls - 1] as number;
    const { tokens } = await session.ask(reading, { depth, tokenIds });
    const labels = readLabels(tokens, reading, questionId);
    const isDeepest = calls === session.server.depths.length || tokens.length < depth;
    if (labels.unseenShare > MOST_UNSEEN && !isDeepest) continue;
    checkReading(labels, reading, question);
    return { labels, calls };
  }
}

function checkReading(
  { labelMass, mostMass, unseenShare, topToken }: ReturnType<typeof readLabels>,
  reading: Reading,
  question: AskedQuestion,
): void {
  const { minLabelMass } = question;
  // Unlisted labels may explain a low mass, unless the mass would be too low even with them.
  const isHidden = unseenShare > MOST_UNSEEN && mostMass >= minLabelMass;
  if (labelMass < minLabelMass && !isHidden) {
    const mass = `has labels that hold ${labelMass.toFixed(2)} of the probability, less than ${minLabelMass} (minLabelMass)`;
    const advice = whyElsewhere(topToken, reading, question);
    rejectAnswer(question.id, { rule: "label-mass", flaw: mass, advice });
  }
  if (unseenShare > MOST_UNSEEN) {
    const flaw = `has labels that hold ${labelMass.toFixed(2)} of the probability, of which unlisted tokens may hold ${unseenShare.toFixed(2)}, more than ${MOST_UNSEEN}`;
    const advice = "Ask with fewer options, or at a server that lists more tokens.";
    rejectAnswer(question.id, { rule: "readout-truncated", flaw, advice });
  }
}

function whyElsewhere(topToken: string, { labels }: Reading, { session }: AskedQuestion): string {
  const quotedText = session.quoteToken(topToken);
  const tokenSentence =
    quotedText === null
      ? "Its likeliest first token repeats the state or a secret, so it is not shown."
      : `Its likeliest first token is ${quotedText}.`;
  const start = topToken.trim().toLowerCase();
  const splits =
    start !== "" && labels.some((label) => label.length > start.length && label.startsWith(start));
  const next = splits
    ? "Its tokenizer splits the labels; use another model."
    : /think|^<$/.test(start)
      ? "It thinks first; switch thinking off at the server."
      : "Use a model that follows instructions, with its chat template.";
  return `${tokenSentence} ${next}`;
}

function joinDetails(all: readonly AnswerDetails[]): AnswerDetails {
  return {
    labelMass: Math.min(...all.map(({ labelMass }) => labelMass)),
    truncated: all.some(({ truncated: isTruncated }) => isTruncated),
    debias:
      all.find(({ debias }) => debias === "reduced")?.debias ?? (all[0] as AnswerDetails).debias,
    flips: all.some(({ flips }) => flips),
    unresolvedMass: 0,
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
  };
}
