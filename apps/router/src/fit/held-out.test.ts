import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import { toGain, toGaps } from "../labels/figures.ts";
import type { LabelledPrompt } from "../labels/tier-points.ts";
import { labelOf } from "../testing/fit-worlds.ts";
import { toFeatures } from "./features.ts";
import { heldOutGains } from "./fit-labels.ts";

function toLabel(text: string, gap: number): LabelledPrompt {
  return labelOf(text, {
    cheap: { quality: 0.5, cost: 1 },
    dear: { quality: 0.5 + gap, cost: 9 },
  });
}

function apgrOf(labels: readonly LabelledPrompt[]): number | null {
  return toGain(toGaps(labels, heldOutGains(labels, 1))).apgr;
}

test("equal texts are in one fold, so noise is not remembered", () => {
  const random = seededRandom(5);
  const labels = Array.from({ length: 60 }, (_, at) => {
    const label = toLabel(`prompt alpha${at} beta${at}`, random() < 0.4 ? 0.5 : 0);
    return [label, label, label, label];
  });
  expect(apgrOf(labels.flat())).toBeLessThan(0.6);
});

test("words, pairs of words and the length each give an order", () => {
  const random = seededRandom(5);
  const draw = (textOf: (isHard: boolean) => string) =>
    Array.from({ length: 200 }, () => {
      const isHard = random() < 0.4;
      return toLabel(textOf(isHard), isHard ? 0.5 : 0);
    });
  const noise = () => `w${Math.floor(400 * random())} x${Math.floor(400 * random())}`;
  const words = draw((isHard) => `${noise()} ${isHard ? "prove" : "greet"} me`);
  const pairs = draw((isHard) => `${noise()} ${isHard ? "left up, right" : "right up, left"}`);
  const lengths = draw((isHard) => "?".repeat((isHard ? 300 : 100) + Math.floor(90 * random())));
  for (const labels of [words, pairs, lengths]) expect(apgrOf(labels)).toBeGreaterThan(0.75);
});

test("the probabilities count only if all labels have them", () => {
  const random = seededRandom(5);
  const labels = Array.from({ length: 200 }, () => {
    const isHard = random() < 0.4;
    const frontier = isHard ? 0.8 : 0.2;
    const probabilities = { nano: 1 - frontier, fast: 0, balanced: 0, frontier };
    return { ...toLabel("", isHard ? 0.5 : 0), probabilities };
  });
  expect(apgrOf(labels)).toBeGreaterThan(0.75);
  expect(apgrOf([...labels, toLabel("", 0)])).toBe(0.5);
});

test("hostile texts have finite features", () => {
  const texts = ["", " ", "\0", "a".repeat(1e6), "🙂 ".repeat(1e5), "é à ü", "<>".repeat(5e5)];
  for (const text of texts) {
    for (const [column, value] of toFeatures(text, null)) {
      expect(Number.isFinite(value)).toBe(true);
      expect(column).toBeLessThanOrEqual(2 ** 14);
    }
  }
});
