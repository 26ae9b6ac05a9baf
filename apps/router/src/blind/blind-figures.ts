import { estimate, figure, points } from "../labels/figures.ts";
import { computeMean } from "../labels/tier-points.ts";
import { tierNames } from "../decision/tier-question.ts";
import { visitLatest } from "../report/latest-messages.ts";
import { type BlindNote, type Note, toNote } from "../report/read-records.ts";

/** A judged reply: its quality, 0..1, and its cost in US dollars. */
type Reply = Readonly<Record<"quality" | "costUsd", number>>;

/** A message whose replies were compared. */
interface BlindPair extends Readonly<Record<"routed" | "cheapest" | "dearest", Reply>> {
  /** Whether the client found the routed reply good; null without a thumb. */
  readonly isGood: boolean | null;
}

/** The fewest good thumbs, and bad ones, that calibrate the judge. Chosen. */
const LEAST_THUMBS = 20;

/** A judge that separates less cannot be calibrated. Chosen. */
const LEAST_SEPARATION = 0.1;

const DRAWS = 500;

/** With 2.5 %, 92 to 95 % of the intervals of simulated worlds hold the truth: they have few bad thumbs. */
const TAIL = 0.0175;

/**
 * Returns saving and quality beside always the dearest tier, with 95 % intervals from draws with
 * replacement. A judge that separates good from bad replies by less than 1 shows too small differences;
 * the thumbs measure its separation, and the differences are divided by it.
 */
export function compareBlind(pairs: readonly BlindPair[], seed = 1) {
  const thumbs = [true, false].map((good) => pairs.filter(({ isGood }) => isGood === good).length);
  const hasThumbs = Math.min(...thumbs) >= LEAST_THUMBS;
  const drawOptions = { seed, draws: DRAWS, tail: TAIL };
  const estimateWay = (comparedWay: "routed" | "cheapest") =>
    estimate(pairs, drawOptions, (sample) => computeFigures(sample, comparedWay, hasThumbs));
  const [routedFigures, cheapest] = [estimateWay("routed"), estimateWay("cheapest")];
  return {
    thumbs,
    separation: hasThumbs ? routedFigures.separation : null,
    routed: routedFigures,
    cheapest,
  };
}

function computeFigures(
  pairs: readonly BlindPair[],
  comparedWay: "routed" | "cheapest",
  isCalibrated: boolean,
) {
  const mean = (of: (pair: BlindPair) => number, rows = pairs) => computeMean(rows.map(of));
  const [goodQuality, badQuality] = [true, false].map((isGoodThumb) => {
    const ratedPairs = pairs.filter(({ isGood }) => isGood === isGoodThumb);
    return mean(({ routed: routedReply }) => routedReply.quality, ratedPairs);
  }) as [number, number];
  const separation = goodQuality - badQuality;
  const qualityGain = mean((pair) => pair[comparedWay].quality - pair.dearest.quality);
  return {
    separation,
    saving: 1 - mean((pair) => pair[comparedWay].costUsd) / mean(({ dearest }) => dearest.costUsd),
    quality: qualityGain / (isCalibrated ? separation : 1),
  };
}

/** The fewest messages for a comparison in words. */
const LEAST_PAIRS = 300;

/** Describes the comparison of replies for a person. */
export function describeBlind(pairs: readonly BlindPair[]): string {
  const count = pairs.length;
  if (count < LEAST_PAIRS) return `Blind shadow: ${count} of ${LEAST_PAIRS} messages are compared.`;
  const { thumbs, separation, routed: routedFigures, cheapest } = compareBlind(pairs);
  const isBlind = separation !== null && separation.low < LEAST_SEPARATION;
  const describeFigures = ({ saving, quality }: typeof routedFigures) =>
    `${figure(saving, points)} % cheaper${isBlind ? "" : `, quality ${figure(quality, points)} points`}`;
  const thumbCounts = `${thumbs[0]} good and ${thumbs[1]} bad thumbs`;
  const judgeNote = isBlind
    ? `The judge does not separate ${thumbCounts}, so the quality is unknown.`
    : `The judge is calibrated by ${thumbCounts}.`;
  const uncalibratedNote = `Only the judge rates quality: ${thumbCounts}, ${LEAST_THUMBS} of each calibrate it.`;
  return `Blind shadow, ${count} messages, beside always the dearest tier: as routed ${describeFigures(routedFigures)}; always the cheapest ${describeFigures(cheapest)}. ${separation === null ? uncalibratedNote : judgeNote}`;
}

type Pair = NonNullable<BlindNote["pair"]>;

/** The part of the log that is read: eight hundred comparisons at a share of 2 %. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Reads the blind comparisons in the latest part of a log, each with the last thumb for its message. */
export async function readPairs(logPath: string): Promise<BlindPair[]> {
  const pairs = new Map<string, Pair>();
  const thumbNotes = new Map<string, Note>();
  await visitLatest(logPath, { mostBytes: MOST_BYTES }, (logLine) => {
    const note = toNote(logLine);
    if (note?.blind?.pair) pairs.set(note.requestId, note.blind.pair);
    else if (note !== null && !thumbNotes.has(note.requestId)) thumbNotes.set(note.requestId, note);
    return true;
  });
  return Array.from(pairs, ([id, pair]) => ({ ...pair, isGood: isGood(pair, thumbNotes.get(id)) }));
}

/** A reply was good if no dearer tier was needed. */
function isGood({ routed: routedReply }: Pair, note: Note | undefined): boolean | null {
  if (note?.thumb !== undefined) return note.thumb === "up";
  if (note?.feedback === undefined || routedReply.tier === null) return null;
  return tierNames.indexOf(note.feedback) <= tierNames.indexOf(routedReply.tier);
}
