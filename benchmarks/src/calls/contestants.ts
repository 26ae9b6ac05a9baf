import { rotate } from "../figures.ts";
import { type Child, startChild } from "evaluator-kit/child";
import type { SectionContext, Scale } from "../bench-program.ts";
import type { AskingService } from "./asking-process.ts";
import type { Round, RoundOptions } from "./run-round.ts";
import { type TargetDescription, type TargetName, targets } from "./targets.ts";

/** A target in its own process, which lives for the whole run. */
export interface Contestant extends Runner {
  readonly title: string;
  readonly process: Child<AskingService>;
}

interface Entry {
  readonly target: TargetName;
  readonly clientFolder: string;
  readonly isOther: boolean;
}

/** Starts a process for each target, with these flags, and one more for each that measures another build. */
export async function startContestants(
  context: SectionContext,
  execArgv: readonly string[] = [],
): Promise<Contestant[]> {
  const contestants: Contestant[] = [];
  for (const entry of entriesOf(context)) {
    contestants.push(await startContestant(entry, context, execArgv));
  }
  return contestants;
}

function entriesOf({ targets: names, clientFolder, otherClientFolder }: SectionContext): Entry[] {
  return names.flatMap((target) => {
    const { isOwn }: TargetDescription = targets[target];
    const entry = { target, clientFolder, isOther: false };
    if (isOwn === undefined || otherClientFolder === null) return [entry];
    return [entry, { target, clientFolder: otherClientFolder, isOther: true }];
  });
}

async function startContestant(
  { target, clientFolder, isOther }: Entry,
  { server, profileFolder }: SectionContext,
  execArgv: readonly string[],
): Promise<Contestant> {
  const name = isOther ? `${target}@other` : target;
  const profile = profileFolder === null ? [] : profileFlags(profileFolder, name);
  const file = new URL("asking-process.ts", import.meta.url);
  const process = startChild<AskingService>(file, [...execArgv, ...profile]);
  const { addresses } = server;
  await process.ask("setUp", { target, clientFolder, addresses });
  const title = targets[target].title + (isOther ? ", other build" : "");
  return { name, title, process, run: (round) => process.ask("run", round) };
}

function profileFlags(folder: string, name: string): string[] {
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`];
}

/** Someone who takes turns. */
export interface Runner {
  /** Another for each runner of a measurement. */
  readonly name: string;
  readonly run: (options: RoundOptions) => Promise<Round>;
}

/** The rounds of each runner by its name, in the order they were run. */
export type RoundsByName = ReadonlyMap<string, readonly Round[]>;

/**
 * Lets all run in turns, one at a time, each round beginning with another: what slows the
 * machine down for a while slows all of them.
 */
export async function measureRounds(
  runners: readonly Runner[],
  { scale, concurrency }: { scale: Scale; concurrency: number },
): Promise<RoundsByName> {
  const { rounds, roundMs, leadInMs, warmUpMs } = scale;
  for (const { run } of runners) {
    await run({ concurrency, durationMs: warmUpMs });
  }
  const measured = new Map<string, Round[]>(runners.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, run } of rotate(runners, round)) {
      // Its connections may have closed, and its code left the caches, while the others ran.
      await run({ concurrency, durationMs: leadInMs });
      measured.get(name)?.push(await run({ concurrency, durationMs: roundMs }));
    }
  }
  return measured;
}
