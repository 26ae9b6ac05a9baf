import { expect, test } from "vitest";
import { fitWorlds, noiseWorld, playWorld } from "../testing/fit-worlds.ts";
import { findPromise } from "./fit-labels.ts";

test("promises of known worlds hold", () => {
  const worlds = fitWorlds.slice(0, 5);
  const played = worlds.flatMap((world) => [1, 2, 3, 4].map((seed) => playWorld(world, seed)));
  expect(played.filter(({ verdict }) => verdict === "route").length).toBeGreaterThan(9);
  expect(played.filter(({ isBroken }) => isBroken).length).toBeLessThanOrEqual(1);
});

test("labels of noise are not told to route", () => {
  const played = [1, 2, 3, 4, 5, 6].map((seed) => playWorld(noiseWorld, seed, 0));
  expect(played.map(({ verdict }) => verdict)).toEqual(played.map(() => "cannot-tell"));
});

/** Predicted gains, from 0 up to 1. */
const gains = (n: number) => Array.from({ length: n }, (_, at) => at / n);

const options = { keepQuality: 0.97, confidence: 0.95 };

/** Prompts of which the cheap tier fails those with the highest predicted gains. */
function predicted(n: number, hard: number) {
  return Array.from({ length: n }, (_, at) => ({
    cheap: { quality: at < n * (1 - hard) ? 1 : 0, cost: 1 },
    dear: { quality: 1, cost: 10 },
  }));
}

test("the threshold is the last that passes before the first that fails", () => {
  const found = findPromise(predicted(1000, 0.3), gains(1000), options);
  expect(found?.threshold).toBeGreaterThan(0.68); // 70 % of the prompts lose nothing
  expect(found?.threshold).toBeLessThan(0.73); // and 3 points may be lost
  expect(found?.saving).toBeGreaterThan(0.9 * 0.64);
  expect(found?.saving).toBeLessThan(0.9 * 0.7);
});

test("a lower threshold after a failure is not tested", () => {
  const prompts = predicted(1000, 0).map(({ cheap, dear }, at) => {
    const isWorse = at > 200 && at < 400;
    return { dear, cheap: { ...cheap, quality: isWorse ? 0 : 1 } };
  });
  expect(findPromise(prompts, gains(1000), options)?.threshold).toBeLessThan(0.25);
});

test("so few labels that not even all frontier passes give no promise", () => {
  expect(findPromise(predicted(60, 0), gains(60), options)).toBeNull();
});
