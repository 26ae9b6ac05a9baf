import { AnswerTable } from "../input/answer-table.ts";
import { LabelJoin } from "../input/join-labels.ts";
import { seededRandom, shuffle } from "../math/random.ts";
import { pickRecords } from "../pick-records.ts";
import { toLabelledRows } from "../report/labelled-rows.ts";
import { reportQuestions } from "../report/question-report.ts";
import { asked, columnIn, drawAnswer } from "./worlds.ts";

type Random = () => number;

/** A judge whose answers are useful or worthless, and a draw of labels that shows which. */
export interface VerdictWorld {
  readonly name: string;
  readonly isUseful: boolean;
  readonly draw: (random: Random) => { readonly p: number; readonly truth: boolean };
  readonly labels: number;
  /** Whether `pick` draws the labels; else they are random ones. */
  readonly isPicked: boolean;
  /** How many records of a thread have one answer and one truth. @default 1 */
  readonly size?: number;
  /** The largest share of rounds with the other verdict. */
  readonly limit: number;
}

// The area under the ROC curve is 0.94, and the log odds are printed 2.5 too high.
const tooHigh = {
  "2 %": { mean: -6.5, spread: 2.6, moved: 2.5 },
  "22 %": { mean: -2.5, spread: 3.5, moved: 2.5 },
};

/** A judge whose printed values know nothing of the truths. */
function worthless(share: number, printed: Parameters<typeof drawAnswer>[0]) {
  return (random: Random) => ({ p: drawAnswer(printed, random).p, truth: random() < share });
}

const guesses = {
  "yes in 50 %": worthless(0.5, { mean: 0, spread: 2 }),
  "yes in 10 %": worthless(0.1, { mean: -2.2, spread: 2 }),
  "yes in 5 %, most printed 0": worthless(0.05, { mean: -9, spread: 6 }),
  "yes in 22 %, most printed 0 or 1": worthless(0.22, { mean: 0, spread: 20 }),
};

/** Useful judges of which few labels must show the order, and worthless ones that may seem useful by chance. */
export const verdictWorlds: readonly VerdictWorld[] = [
  ...([["22 %", 0.05] as const, ["2 %", 0.5] as const] as const).map(([share, limit]) => ({
    name: `yes in ${share}, printed too high`,
    isUseful: true,
    draw: (random: Random) => drawAnswer(tooHigh[share], random),
    labels: 50,
    isPicked: true,
    limit,
  })),
  ...Object.entries(guesses).flatMap(([name, draw]) =>
    [false, true].map((isPicked) => {
      return { name, isUseful: false, draw, labels: 50, isPicked, limit: 0.04 };
    }),
  ),
  ...[3, 10].map((size) => ({
    name: `threads of ${size}`,
    isUseful: false,
    draw: worthless(0.22, { mean: 0, spread: 2 }),
    labels: 300,
    isPicked: false,
    size,
    limit: 0.04,
  })),
];

/** Returns the share of rounds in which the labels of a judge have the other verdict. */
export function playVerdicts(
  { isUseful, draw, labels, isPicked, size = 1 }: VerdictWorld,
  rounds: number,
): number {
  const onePer = size === 1 ? undefined : "thread";
  const wrong = Array.from({ length: rounds }, (_, seed) => {
    const random = seededRandom(seed + 1);
    const threads = Array.from({ length: 3000 / size }, () => draw(random));
    const ids = Array.from({ length: threads.length * size }, (_id, at) => `${at}`);
    const rowOf = (id: string) => threads[Math.floor(Number(id) / size)];
    const table = new AnswerTable({ onePer });
    for (const [line, id] of ids.entries()) {
      const thread = Math.floor(line / size);
      const value = { id, question: "q", probability: rowOf(id)?.p, modelId: "m/x", thread };
      table.addRecord({ line, value }, "answers");
    }
    const [column] = table.columns;
    if (column === undefined) throw new Error("no row was answered");
    const drawn = isPicked
      ? pickRecords(column, { budget: labels, seed })
      : shuffle(ids, random)
          .slice(0, labels)
          .map((id) => ({ id }));
    const join = new LabelJoin(table, { onePer });
    for (const [line, one] of drawn.entries()) {
      join.add({ line, value: { ...one, question: "q", truth: rowOf(one.id)?.truth } }, "labels");
    }
    const options = { ...asked, isOnePer: size > 1, hasGroups: false, costs: null };
    const [report] = reportQuestions([toLabelledRows(columnIn(join))], options);
    return report?.verdict.startsWith("useful") !== isUseful;
  });
  return wrong.filter(Boolean).length / rounds;
}
