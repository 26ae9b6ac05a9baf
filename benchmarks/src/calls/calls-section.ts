import {
  compareRounds,
  printNumber,
  printSummary,
  type ReportTable,
  summarise,
} from "../figures.ts";
import type { SectionContext } from "../section-context.ts";
import { sampleExchanges } from "../sample-requests.ts";
import { measureRounds, type RoundsByName, startContestants } from "./contestants.ts";
import { callsPerSecond, cpuUsPerCall } from "./run-round.ts";

/** Measures processor time, rate and allocation of one call, four questions each. */
export async function callsSection(context: SectionContext): Promise<ReportTable[]> {
  await context.server.answer(sampleExchanges.mail);
  const allocated = await measureAllocations(context);
  const contestants = await startContestants(context);
  const tables: ReportTable[] = [];
  for (const concurrency of [32, 1]) {
    context.tell(`calls, ${concurrency} in flight`);
    const rounds = await measureRounds(contestants, { scale: context.scale, concurrency });
    const title = `One call of four questions, ${concurrency} in flight`;
    tables.push({ title, ...toTable(contestants, rounds, allocated) });
  }
  await Promise.all(contestants.map(({ process }) => process.close()));
  return tables;
}

/** Flags of a process whose young generation holds all that a measurement allocates. */
const allocationFlags = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"];

/** Returns the bytes that a call allocates, by contestant. */
async function measureAllocations(context: SectionContext): Promise<Map<string, number>> {
  context.tell("calls, allocation");
  const allocated = new Map<string, number>();
  const contestants = await startContestants(context, allocationFlags);
  for (const { name, process } of contestants) {
    allocated.set(name, await process.ask("measureAllocation", 500));
    await process.close();
  }
  return allocated;
}

function toTable(
  contestants: readonly { name: string; title: string }[],
  rounds: RoundsByName,
  allocated: ReadonlyMap<string, number>,
) {
  const cpuOf = (name: string) => rounds.get(name)?.map(cpuUsPerCall) ?? [];
  const ratio = (name: string, reference: string) =>
    rounds.has(reference) ? printSummary(compareRounds(cpuOf(name), cpuOf(reference)), "×") : "-";
  return {
    columns: [
      "",
      "CPU against undici",
      "CPU against this SDK",
      "CPU µs per call",
      "calls/s",
      "KB allocated",
    ],
    rows: contestants.map(({ name, title }) => [
      title,
      ratio(name, "undici"),
      ratio(name, "sdk-gateway"),
      printSummary(summarise(cpuOf(name))),
      printNumber(summarise(rounds.get(name)?.map(callsPerSecond) ?? []).median),
      printNumber((allocated.get(name) ?? Number.NaN) / 1024),
    ]),
    note: "Medians over the rounds, quartiles in brackets. CPU is the whole process's.",
  };
}
