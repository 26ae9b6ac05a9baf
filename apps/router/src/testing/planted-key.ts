import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";
import { expect, onTestFinished } from "vitest";

/** The key in the surroundings of every router that a test starts. */
export const plantedKey = "planted-key-4711-0815";

/** Keeps something that a router told: a text, what JSON can hold, or what gives a text at the end. */
export type Keep = (told: unknown) => void;

/**
 * Keeps everything a router tells, wherever it tells it; a test whose router told the planted key
 * fails at its end.
 */
export function keepTold(): Keep {
  const kept: unknown[] = [];
  onTestFinished(async () => {
    await setImmediate(); // what is on its way
    expect(kept.map(textOf).join("\n")).not.toContain(plantedKey);
  });
  return (told) => void kept.push(told);
}

function textOf(told: unknown): string {
  if (typeof told === "function") return String(told());
  return told instanceof Error ? inspect(told) : (JSON.stringify(told) ?? "");
}
