import { AnswerColumn } from "../input/answer-column.ts";
import { seededRandom } from "../math/random.ts";
import { compareReleases } from "../report/compare-releases.ts";

/** Two releases of which most answers print 0; a share of the second's values is raised. */
export interface DriftWorld {
  readonly n: number;
  readonly raised: number;
}

/** Returns the share of rounds in which the answers of a second release are called changed. */
export function playDrift({ n, raised }: DriftWorld, rounds: number): number {
  const played = Array.from({ length: rounds }, (_, round) => {
    const random = seededRandom(round + 1);
    const drawValue = () => (random() < 0.7 ? 0 : random() ** 3);
    const isRaised = () => random() < raised;
    const before = Array.from({ length: n }, drawValue);
    const after = Array.from({ length: n }, () => {
      return Math.min(1, drawValue() + (isRaised() ? 0.3 * random() : 0));
    });
    const options = { seed: round, labelled: null };
    return compareReleases(columnWith(before), columnWith(after), options).isChanged;
  });
  return played.filter(Boolean).length / rounds;
}

function columnWith(values: readonly number[]): AnswerColumn {
  const source = { modelId: null, wire: null, basis: "model", questionHash: null } as const;
  const about = { question: "q", kind: "boolean", options: ["no", "yes"], source } as const;
  const column = new AnswerColumn({ ...about, ids: [], values: [] });
  for (const [at, value] of values.entries()) {
    const answer = { ...about, ids: [String(at)], values: [Math.round(100 * value) / 100] };
    column.add(answer, { file: "answers" }, false);
  }
  return column;
}
