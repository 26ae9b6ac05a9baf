import { rotate } from "../statistics/rotate.ts";
import type { Scale } from "../scale.ts";
import type { Round, RoundOptions } from "./run-round.ts";

/** Someone who takes turns. */
export interface Runner {
  /** Tells the runners of one measurement apart. */
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
