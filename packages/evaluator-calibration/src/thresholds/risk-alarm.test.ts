import { expect, test } from "vitest";
import { createRiskAlarm } from "../index.ts";
import { seededRandom } from "../math/random.ts";
import type { SavedRiskAlarm } from "./risk-alarm.ts";

const bound = { maxRisk: 0.05, confidence: 0.95 };

/** Returns the label at which the alarm comes; null if it does not. */
function alarmAt(
  seed: number,
  { labels, riskAt }: { labels: number; riskAt: (n: number) => number },
) {
  const random = seededRandom(seed);
  const alarm = createRiskAlarm(bound);
  for (let n = 0; n < labels; n += 1) if (alarm.add(random() < riskAt(n)).alarm) return n + 1;
  return null;
}

const seeds = Array.from({ length: 400 }, (_, seed) => seed);

test("at exactly the promised risk, 3,000 labels raise a false alarm in at most 5 % of rounds", () => {
  const rounds = seeds.map((seed) => alarmAt(seed, { labels: 3000, riskAt: () => 0.05 }));
  expect(rounds.filter((at) => at !== null).length).toBeLessThanOrEqual(0.05 * seeds.length);
});

test.each([
  { from: 0.05, to: 0.11, after: 260, median: 220 },
  { from: 0.03, to: 0.18, after: 260, median: 110 },
])(
  "a rise from $from to $to is found after a median of $median labels",
  ({ from, to, after, median }) => {
    const riskAt = (n: number) => (n < after ? from : to);
    const found = seeds.map(
      (seed) => (alarmAt(seed, { labels: 5000, riskAt }) ?? Infinity) - after,
    );
    expect(found.toSorted((a, b) => a - b)[seeds.length / 2]).toBeLessThanOrEqual(median);
  },
);

test("a saved alarm goes on as if it had not been saved, in under 2 kB", () => {
  const random = seededRandom(1);
  const whole = createRiskAlarm(bound);
  let parts = createRiskAlarm(bound);
  for (let n = 0; n < 500; n += 1) {
    const isWrong = random() < 0.06;
    const text = JSON.stringify(parts);
    expect(text.length).toBeLessThan(2000);
    parts = createRiskAlarm(bound, JSON.parse(text) as SavedRiskAlarm);
    expect(parts.add(isWrong)).toEqual(whole.add(isWrong));
  }
});

test("an alarm stays, and its evidence is a number after any number of wrong labels", () => {
  const alarm = createRiskAlarm(bound);
  for (let n = 0; n < 5000; n += 1) alarm.add(true);
  expect(Number.isFinite(alarm.add(true).evidence)).toBe(true);
  for (let n = 0; n < 50_000; n += 1) alarm.add(false);
  const state = alarm.add(false);
  expect(state).toMatchObject({ n: 55_002, wrong: 5001, alarm: true });
  expect(JSON.parse(JSON.stringify(alarm))).toMatchObject(state);
});

test("the evidence of the first labels is that of the bets by hand", () => {
  const alarm = createRiskAlarm({ maxRisk: 0.2 });
  // Half of the stake is bet on 0.3, 0.4, 0.6, 0.95 and 0.95; half is kept.
  const won = 0.5 * (0.3 * 1.5 + 0.3 * 2 + 0.2 * 3 + 0.2 * 4.75);
  expect(alarm.add(true).evidence).toBeCloseTo(0.5 + won, 12);
  const lost = 0.5 * ((0.45 * 0.7 + 0.6 * 0.6 + 0.6 * 0.4 + 0.95 * 0.05) / 0.8);
  expect(alarm.add(false).evidence).toBeCloseTo(0.5 + lost, 12);
});

test.each([
  { n: 1, wrong: 2, evidence: 1, alarm: false, gains: [0, 0, 0, 0, 0] },
  { n: 1, wrong: 0, evidence: 1, alarm: false, gains: [0] },
  { n: 1, wrong: 0, evidence: Number.NaN, alarm: false, gains: [0, 0, 0, 0, 0] },
])("a saved alarm that cannot be is refused", (saved) => {
  expect(() => createRiskAlarm(bound, saved)).toThrow("The saved alarm is invalid");
});
