import { type Child, startChild } from "evaluator-kit/child";
import { rotate } from "../figures.ts";
import type { SectionContext } from "../bench-program.ts";
import type { AskingService } from "./asking-process.ts";
import type { Round, RoundOptions } from "./run-round.ts";
import { targets } from "./targets.ts";

/** A target in its own process, which lives for the whole run. */
export interface Contestant extends Runner {
  readonly title: string;
  readonly process: Child<AskingService>;
}

/** Starts a process for each target, with these flags, and one more for each that measures another build. */
export async function startContestants(
  { targets: names, server, clientFolder, otherClientFolder, profileFolder }: SectionContext,
  execArgv: readonly string[] = [],
): Promise<Contestant[]> {
  const file = new URL("asking-process.ts", import.meta.url);
  const contestants: Contestant[] = [];
  for (const target of names) {
    const { title } = targets[target];
    const entries = [{ name: target as string, title, clientFolder }];
    if (otherClientFolder !== null && target.startsWith("sdk-")) {
      const other = { name: `${target}@other`, title: `${title}, other build` };
      entries.push({ ...other, clientFolder: otherClientFolder });
    }
    for (const { clientFolder: folder, ...names } of entries) {
      const profile = profileFolder === null ? [] : profileFlags(profileFolder, names.name);
      const process = startChild<AskingService>(file, [...execArgv, ...profile]);
      await process.ask("setUp", { target, clientFolder: folder, addresses: server.addresses });
      contestants.push({ ...names, process, run: (round) => process.ask("run", round) });
    }
  }
  return contestants;
}

function profileFlags(folder: string, name: string): string[] {
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`];
}

/** A process that takes turns with others; its name is its own. */
export interface Runner {
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
  { scale, concurrency }: Pick<SectionContext, "scale"> & { concurrency: number },
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
