import { execArgv } from "node:process";
import { startChild } from "evaluator-kit/child";
import { rotate } from "../figures.ts";
import type { SectionContext } from "../section-context.ts";
import type { AskingService } from "./asking-process.ts";
import type { Round, RoundOptions } from "./run-round.ts";
import { type TargetName, targets } from "../targets.ts";

/**
 * Starts a process for each target, with these and this process's flags, and one more for each that measures another build.
 * Each lives for the whole run.
 */
export async function startContestants(
  { targets: names, server, clientFolder, otherClientFolder }: SectionContext,
  flags: readonly string[] = [],
) {
  const file = new URL("asking-process.ts", import.meta.url);
  const start = async (target: TargetName, folder: string, isOther = false) => {
    const name = isOther ? `${target}@other` : target;
    const process = startChild<AskingService>(file, [...execArgv, ...flags]);
    await process.ask("setUp", { target, clientFolder: folder, addresses: server.addresses });
    const title = targets[target].title + (isOther ? ", other build" : "");
    return { name, title, process, run: (round: RoundOptions) => process.ask("run", round) };
  };
  const contestants: Awaited<ReturnType<typeof start>>[] = [];
  for (const target of names) {
    contestants.push(await start(target, clientFolder));
    if (otherClientFolder === null || !target.startsWith("sdk-")) continue;
    contestants.push(await start(target, otherClientFolder, true));
  }
  return contestants;
}

/** The rounds of each runner by its name, in the order they were run. */
export type RoundsByName = ReadonlyMap<string, readonly Round[]>;

/**
 * Lets all run in turns, one at a time, each round beginning with another: what slows the
 * machine down for a while slows all of them.
 */
export async function measureRounds(
  runners: readonly { name: string; run: (options: RoundOptions) => Promise<Round> }[],
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
