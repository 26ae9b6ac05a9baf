import { AnswerTable } from "../input/answer-table.ts";
import { LabelJoin } from "../input/join-labels.ts";
import { seededRandom, shuffle } from "../math/random.ts";
import { drawRecords } from "../pick-records.ts";
import { toLabelledRows } from "../report/labelled-rows.ts";
import { reportQuestions } from "../report/question-report.ts";

/** Records of which many are of one thread or have one state, and are right or wrong together. */
export interface ClusterWorld {
  readonly name: string;
  /** How many records are alone. */
  readonly alone: number;
  /** How many clusters there are, and how many records each has. */
  readonly clusters: readonly [count: number, size: number];
  /** The share of wrong "no" among the records that are alone, and among the clusters. */
  readonly risks: readonly [alone: number, clusters: number];
  /** Whether the records of a cluster have one state; else one thread. */
  readonly isCopied: boolean;
  /** Whether labels are drawn at random; else by `label`, which passes over further records of a cluster. */
  readonly isRandom: boolean;
}

/** Worlds of threads and of copies: one label of a large cluster is many records. */
export const clusterWorlds: readonly ClusterWorld[] = [false, true].flatMap((isCopied) =>
  [true, false].flatMap((isRandom) => {
    const [of, by] = [isCopied ? "copies" : "threads", isRandom ? "at random" : "by label"];
    const both = { isCopied, isRandom };
    return [
      {
        name: `20 ${of} of 120, labels ${by}`,
        alone: 3600,
        clusters: [20, 120],
        risks: [0.002, 0.15],
        ...both,
      },
      {
        name: `${of} of 4, labels ${by}`,
        alone: 2000,
        clusters: [1000, 4],
        risks: [0.01, 0.07],
        ...both,
      },
      {
        name: `${of} of 3, few wrong, labels ${by}`,
        alone: 2000,
        clusters: [400, 3],
        risks: [0.005, 0.005],
        ...both,
      },
    ] as const;
  }),
);

const questions = {
  q: { type: "boolean", instructions: "Is it?", criteria: "Yes if it is." },
} as const;
const LABELS = 400;

function drawPool({ alone, clusters: [count, size], risks }: ClusterWorld, random: () => number) {
  const single = Array.from({ length: alone }, (_, at) => {
    const isSure = random() < 0.85;
    return {
      of: `single ${at}`,
      p: isSure ? 0.02 : 0.9,
      truth: random() < (isSure ? risks[0] : 0.9),
    };
  });
  const many = Array.from({ length: count }, (_, at) => {
    const one = { of: `cluster ${at}`, p: 0.02, truth: random() < risks[1] };
    return Array.from({ length: size }, () => one);
  });
  return [...single, ...many.flat()].map((row, at) => ({ id: `m${at}`, row }));
}

function answersOf(pool: ReturnType<typeof drawPool>, isCopied: boolean): AnswerTable {
  const table = new AnswerTable(isCopied ? {} : { onePer: "thread" });
  for (const { id, row } of pool) {
    const evaluation = { answers: { q: { type: "boolean", probability: row.p } }, modelId: "m/x" };
    const state = isCopied ? { text: row.of } : { thread: row.of, text: id };
    table.addEvaluation(
      { id, questions, wire: "https://a.test", state, evaluation },
      { file: "a" },
    );
  }
  return table;
}

/** Returns the shares of rounds with a promise on "no", and with one that is broken for the records. */
export function playClusters(world: ClusterWorld, rounds: number) {
  let [promised, broken] = [0, 0];
  for (let seed = 1; seed <= rounds; seed += 1) {
    const random = seededRandom(seed);
    const pool = drawPool(world, random);
    const table = answersOf(pool, world.isCopied);
    const onePer = world.isCopied ? undefined : "thread";
    const join = new LabelJoin(table, { onePer });
    const rowOf = new Map(pool.map(({ id, row }) => [id, row]));
    const [column = { ids: [] }] = table.columns;
    const drawn = world.isRandom
      ? shuffle(
          pool.map(({ id }) => id),
          random,
        ).slice(0, LABELS)
      : drawRecords(column, { budget: LABELS, seed, clusters: table.clusters });
    for (const id of drawn) join.add({ line: 1, value: { id, truth: rowOf.get(id)?.truth } }, "l");
    const [report] = reportQuestions(
      join.columns.map((joined) => toLabelledRows(joined)),
      {
        maxRisk: 0.05,
        confidence: 0.95,
        onAverage: false,
        costs: null,
        seed: 1,
        isOnePer: !world.isCopied,
        actions: [{ question: "q", action: "no" }],
      },
    );
    if (report?.actions[0]?.promised == null) continue;
    promised += 1;
    const acts = pool.filter(({ row }) => row.p === 0.02);
    broken += Number(acts.filter(({ row }) => row.truth).length > 0.05 * acts.length);
  }
  return { promised: promised / rounds, broken: broken / rounds };
}
