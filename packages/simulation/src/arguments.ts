import { parseArgs } from "node:util";
import { UsageError } from "evaluator-kit";
import type { Plan } from "./plan/plan.ts";
import { readPlan } from "./plan/plan-file.ts";

const options = {
  seeds: { type: "string" },
  from: { type: "string" },
  seed: { type: "string" },
  minutes: { type: "string" },
  part: { type: "string" },
  store: { type: "string" },
  plan: { type: "string" },
  json: { type: "boolean" },
} as const;

const MOST_SEED = 2 ** 32 - 1;
// A year; a longer plan would not end.
const MOST_MINUTES = 525_600;

/** What the command is to play. */
export interface Arguments {
  readonly from: number;
  readonly seeds: number;
  /** Whether one seed was named, whose plan is printed. */
  readonly isOne: boolean;
  readonly setting: Pick<Plan, "minutes" | "part" | "store">;
  /** Faults from a file, or null. */
  readonly plan: Plan | null;
  readonly isJson: boolean;
}

/** Reads the words of the command. @throws UsageError that names the wrong option. */
export function parseArguments(words: readonly string[], cwd: string): Arguments {
  const given = parseWords(words);
  const plan = given.plan === undefined ? null : readPlan(given.plan, cwd);
  const isOne = given.seed !== undefined || plan !== null;
  for (const name of ["seeds", "from"] as const) {
    const one = given.seed === undefined ? "--plan" : "--seed";
    if (isOne && given[name] !== undefined) {
      throw new UsageError(`--${name} is for several seeds, and ${one} for one; leave one out.`);
    }
  }
  for (const name of ["minutes", "part", "store"] as const) {
    if (plan === null || given[name] === undefined) continue;
    throw new UsageError(`--${name} is in the file of --plan; leave it out, or change the file.`);
  }
  const seeds = isOne ? 1 : readWhole("seeds", given.seeds ?? "20", { least: 1 });
  const first = isOne ? (given.seed ?? String(plan?.seed)) : (given.from ?? "1");
  const from = readWhole(isOne ? "seed" : "from", first, { least: 0 });
  if (plan !== null && plan.seed !== from) {
    throw new UsageError(`--plan is of seed ${plan.seed}; leave --seed out, or give this one.`);
  }
  if (from + seeds - 1 > MOST_SEED) {
    throw new UsageError(`--seeds leads past the last seed, which is ${MOST_SEED}.`);
  }
  const setting = {
    minutes: readMinutes(given.minutes ?? "60"),
    part: readChoice("part", given.part ?? "whole", ["client", "whole"]),
    store: readChoice("store", given.store ?? "memory", ["memory", "pglite"]),
  };
  return { from, seeds, isOne, setting, plan, isJson: given.json === true };
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options, strict: true }).values;
  } catch (error) {
    const [sentence = ""] = (error instanceof Error ? error.message : "").split(/\. |\n/);
    throw new UsageError(`${sentence}. The options are --${Object.keys(options).join(", --")}.`);
  }
}

function readWhole(name: string, text: string, { least }: { readonly least: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= MOST_SEED) return value;
  throw new UsageError(`--${name} is no whole number from ${least} to ${MOST_SEED}: "${text}".`);
}

function readMinutes(text: string): number {
  const value = Number(text);
  if (/^(?:\d+|\d*\.\d+)$/.test(text) && value > 0 && value <= MOST_MINUTES) return value;
  throw new UsageError(`--minutes is no number above 0 and up to ${MOST_MINUTES}: "${text}".`);
}

function readChoice<TName extends string>(
  name: string,
  text: string,
  choices: readonly TName[],
): TName {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`--${name} is one of ${choices.join(", ")}, not "${text}".`);
}
