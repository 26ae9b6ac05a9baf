import type { CliContext } from "evaluator-kit";
import { type Arguments, parseArguments } from "./arguments.ts";
import { generatePlan } from "./plan/generate-plan.ts";
import { writePlan } from "./plan/plan-file.ts";
import { describeAll, describeFailure, listFaults } from "./report.ts";
import { Shrinker } from "./shrink.ts";
import { playPlan, type Played, type Result } from "./simulate.ts";

/** Plays seeds, and prints what fails; returns the exit code: 1 if a property does not hold. */
export async function runSimulation(
  words: readonly string[],
  context: Pick<CliContext, "cwd" | "stdout" | "signal">,
): Promise<number> {
  const given = parseArguments(words, context.cwd);
  const results: Result[] = [];
  for (let at = 0; at < given.seeds && !context.signal.aborted; at += 1) {
    const seed = given.from + at;
    const plan = given.plan ?? generatePlan({ seed, ...given.setting });
    const played = await playPlan(plan);
    results.push(played.result);
    await print(played, given, context);
  }
  if (!given.isJson) context.stdout.write(describeAll(results));
  context.signal.throwIfAborted();
  return results.every(({ ok }) => ok) ? 0 : 1;
}

async function print(
  played: Played,
  { isJson, isOne, plan }: Arguments,
  { stdout, cwd }: Pick<CliContext, "cwd" | "stdout">,
): Promise<void> {
  if (isJson) {
    stdout.write(`${JSON.stringify(played.result)}\n`);
    return;
  }
  if (isOne) stdout.write(listFaults(played.plan));
  if (played.result.ok) return;
  const smallest = plan === null ? await new Shrinker(played).shrink() : played;
  stdout.write(describeFailure(smallest, writePlan(smallest.plan, cwd)));
}
