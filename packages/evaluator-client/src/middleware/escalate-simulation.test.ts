import { promiseThresholds, questionHash } from "evaluator-calibration";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { boolean } from "../questions/kinds.ts";
import { seededRandom } from "../testing/limited-service.ts";
import type { Transport } from "../transports/transport.ts";
import { escalate, type PromiseArtifact } from "./escalate.ts";

const questions = { scam: boolean("Is it a scam?") };
const promise = { maxRisk: 0.05, confidence: 0.95 };

/** Two engines: the first sees a record's probability of yes, the second also a sign that is right so often. */
interface World {
  readonly shares: readonly number[];
  /** How far printed log-odds are stretched; 1 is calibrated. */
  readonly stretch: readonly [first: number, second: number];
  readonly skill: number;
}

/** Records that both engines answer alike. */
interface Cell {
  readonly mass: number;
  /** The true probability of yes. */
  readonly yes: number;
  readonly printed: readonly [first: number, second: number];
}

const noCell: Cell = { mass: 0, yes: 0, printed: [0, 0] };
const even = [0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98];
const worlds: Readonly<Record<string, World>> = {
  "both calibrated": { shares: even, stretch: [1, 1], skill: 0.9 },
  "the first too sure": { shares: even, stretch: [2, 1], skill: 0.9 },
  "the second too sure": { shares: even, stretch: [1, 2], skill: 0.8 },
  "both too sure, and the second no better": { shares: even, stretch: [2, 2], skill: 0.5 },
  "both at the edge": { shares: [0.055, 0.3, 0.5, 0.7, 0.945], stretch: [1.5, 1.5], skill: 0.75 },
};

function cellsOf({ shares, stretch, skill }: World): Cell[] {
  return shares.flatMap((share) =>
    [true, false].map((sign) => {
      const [ifYes, ifNo] = sign ? [skill, 1 - skill] : [1 - skill, skill];
      const chance = share * ifYes + (1 - share) * ifNo;
      const yes = (share * ifYes) / chance;
      const printed = [printedOf(share, stretch[0]), printedOf(yes, stretch[1])] as const;
      return { mass: chance / shares.length, yes, printed };
    }),
  );
}

function printedOf(share: number, stretch: number): number {
  const odds = (share / (1 - share)) ** stretch;
  return Number((odds / (1 + odds)).toFixed(2));
}

/** Labels records of cells, and returns the artifact of one engine's answers. */
function calibrated(cells: readonly Cell[], engine: 0 | 1, random: () => number): PromiseArtifact {
  const whole = cells.reduce((sum, { mass }) => sum + mass, 0);
  const labels = Array.from({ length: whole > 0 ? 300 : 0 }, () => {
    let left = random() * whole;
    const { printed, yes } = cells.find(({ mass }) => (left -= mass) < 0) ?? noCell;
    return { printed: printed[engine], isYes: random() < yes };
  });
  const actions = (["yes", "no"] as const).map((action) => ({
    question: "scam",
    action,
    sureness: labels.map(({ printed }) => (action === "yes" ? printed : 1 - printed)),
    wrong: labels.map(({ isYes }) => Number(isYes !== (action === "yes"))),
  }));
  const thresholds = promiseThresholds(actions, promise).filter((found) => found !== null);
  return { model: { id: `engine ${engine}` }, questionHash: questionHash(questions), thresholds };
}

function engineOf(engine: 0 | 1, cells: readonly Cell[], asked: number[]) {
  const transport: Transport = {
    name: `engine ${engine}`,
    async send({ state }) {
      asked.push(Number(state));
      const probability = (cells[Number(state)] as Cell).printed[engine];
      const response = { answers: { scam: { type: "boolean", probability } } };
      const costUsd = engine === 0 ? 0.001 : 0.01;
      return { response, modelId: `engine ${engine}`, requestId: null, raw: response, costUsd };
    },
  };
  return createEvaluator({ transport });
}

interface Act {
  readonly step: number;
  readonly mass: number;
  readonly risk: number;
}

/** Asks about all records, and returns the acts, and the records that each engine was asked about. */
async function askAll(
  cells: readonly Cell[],
  first: PromiseArtifact,
  second: PromiseArtifact | null,
) {
  const sent: [number[], number[]] = [[], []];
  const other = engineOf(1, cells, sent[1]);
  const nextBounds = second === null ? {} : { scam: { promise: second } };
  const asking = escalate(other, { scam: { promise: first } }, { nextBounds });
  const evaluator = engineOf(0, cells, sent[0]).with(asking);
  const acts: Act[] = [];
  const unsure: number[] = [];
  for (const [index, { mass, yes }] of cells.entries()) {
    const { answers, route } = await evaluator.evaluate({ state: String(index), questions });
    const { step = 0, isSure } = route?.scam ?? {};
    if (step === 2) unsure.push(index);
    const risk = answers.scam.probability > 0.5 ? 1 - yes : yes;
    if (isSure) acts.push({ step, mass, risk });
  }
  // Nothing that was sure is asked twice, and everything once.
  expect(sent).toEqual([[...cells.keys()], unsure]);
  return { acts, unsure };
}

/** Returns a function that asks only once for each pair of artifacts with the same thresholds. */
function askingOnce(cells: readonly Cell[]): typeof askAll {
  const known = new Map<string, ReturnType<typeof askAll>>();
  return (_, first, second) => {
    const key = [first, second].map((artifact) =>
      artifact?.thresholds.map(({ action, threshold }) => [action, threshold]),
    );
    const found = known.get(JSON.stringify(key)) ?? askAll(cells, first, second);
    known.set(JSON.stringify(key), found);
    return found;
  };
}

/** The share of acts that are wrong, of one engine or of both. */
function riskOf(acts: readonly Act[]): number {
  const wrong = acts.reduce((sum, { mass, risk }) => sum + mass * risk, 0);
  return wrong / acts.reduce((sum, { mass }) => sum + mass, 0);
}

test("with escalation at the promised threshold the risk stays at the promise, in each world", async () => {
  const rounds = 1000;
  const shares = await Promise.all(
    Object.values(worlds).map(async (world, index) => {
      const cells = cellsOf(world);
      const random = seededRandom(1 + index);
      const ask = askingOnce(cells);
      const broken = { all: 0, first: 0, second: 0 };
      let actsOfSecond = 0;
      for (let round = 0; round < rounds; round += 1) {
        const first = calibrated(cells, 0, random);
        const { unsure } = await ask(cells, first, null);
        // The labels of the second are of records that it is asked about.
        const second = calibrated(
          unsure.map((at) => cells[at] as Cell),
          1,
          random,
        );
        const { acts } = await ask(cells, first, second);
        const [ofFirst, ofSecond] = [1, 2].map((step) => acts.filter((act) => act.step === step));
        if (riskOf(acts) > promise.maxRisk) broken.all += 1;
        if (riskOf(ofFirst ?? []) > promise.maxRisk) broken.first += 1;
        if (riskOf(ofSecond ?? []) > promise.maxRisk) broken.second += 1;
        if (ofSecond?.length) actsOfSecond += 1;
      }
      return { broken, actsOfSecond };
    }),
  );
  const worst = shares.map(({ broken: { all, first, second } }) => Math.max(all, first, second));
  expect(Math.max(...worst) / rounds).toBeLessThanOrEqual(0.05);
  // It is no empty promise: in the first world the second engine acts.
  expect(shares[0]?.actsOfSecond).toBeGreaterThan(rounds / 2);
});

// By hand: 101 records print 0.00 to 1.00. Below 0.8 are 0.21 to 0.79, which are 59, and below 0.9 are 79.
test.each([
  [{ below: 0.5 }, 0, 0.101],
  [{ below: 0.8 }, 59, 0.691],
  [{ below: 0.9 }, 79, 0.891],
  [{ between: [0.2, 0.8] as const }, 59, 0.691],
  [{ between: [0.5, 0.6] as const }, 9, 0.191],
  [{ below: 1 }, 99, 1.091],
])("the bound %j asks %d of 101 again, for $%d", async (bound, count, costUsd) => {
  const cells = Array.from({ length: 101 }, (_, percent): Cell => {
    return { mass: 1, yes: 0, printed: [percent / 100, 0.99] };
  });
  const sent: [number[], number[]] = [[], []];
  const [first, second] = [engineOf(0, cells, sent[0]), engineOf(1, cells, sent[1])];
  const batch = first
    .with(escalate(second, { scam: bound }))
    .evaluateMany(Array.from(cells.keys(), (at) => ({ state: String(at), questions })));
  const usd: number[] = [];
  for await (const item of batch)
    if (item.status === "succeeded") usd.push(item.evaluation.costUsd ?? Number.NaN);
  expect(sent.map(({ length }) => length)).toEqual([101, count]);
  expect(usd.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(costUsd, 9);
  expect(batch.totals.costUsd).toBeCloseTo(costUsd, 9);
});
