import { sampleExchanges } from "../sample-requests.ts";
import { printNumber, printSummary, compareRounds, type Summary, summarise } from "../figures.ts";
import type { ReportTable, SectionContext } from "../bench-program.ts";
import {
  type Contestant,
  startContestants,
  measureRounds,
  type RoundsByName,
} from "./contestants.ts";
import { type Allocation, allocationFlags } from "./run-round.ts";
import { references } from "./targets.ts";

/** The results of a target at one number of calls in flight. */
interface CallFigures {
  readonly name: string;
  readonly title: string;
  readonly concurrency: number;
  readonly cpuUsPerCall: Summary;
  readonly callsPerSecond: Summary;
  /** CPU per call against raw undici in the same rounds; null if not measured. */
  readonly cpuAgainstRaw: Summary | null;
  /** CPU per call against this SDK in the same rounds; null if not measured. */
  readonly cpuAgainstSdk: Summary | null;
}

/** Measures processor time, rate and allocation of one call, four questions each. */
export async function callsSection(context: SectionContext): Promise<ReportTable[]> {
  await context.server.answer(sampleExchanges.mail);
  const contestants = await startContestants(context);
  const figures: CallFigures[] = [];
  try {
    for (const concurrency of [32, 1]) {
      context.tell(`calls, ${concurrency} in flight`);
      const rounds = await measureRounds(contestants, { scale: context.scale, concurrency });
      figures.push(...toFigures(contestants, rounds, concurrency));
    }
  } finally {
    await Promise.all(contestants.map(({ process }) => process.close()));
  }
  const allocations = await measureAllocations(context);
  return [32, 1].map((concurrency) => toTable(figures, { concurrency, allocations }));
}

function toFigures(
  contestants: readonly Contestant[],
  rounds: RoundsByName,
  concurrency: number,
): CallFigures[] {
  const cpuOf = (name: string) => rounds.get(name)?.map(({ cpuUs, calls }) => cpuUs / calls);
  const [raw, sdk] = [cpuOf(references.raw), cpuOf(references.sdk)];
  return contestants.map(({ name, title }) => {
    const own = rounds.get(name) ?? [];
    const cpu = cpuOf(name) ?? [];
    return {
      name,
      title,
      concurrency,
      cpuUsPerCall: summarise(cpu),
      callsPerSecond: summarise(own.map(({ calls, wallMs }) => (calls / wallMs) * 1000)),
      cpuAgainstRaw: raw === undefined ? null : compareRounds(cpu, raw),
      cpuAgainstSdk: sdk === undefined ? null : compareRounds(cpu, sdk),
    };
  });
}

async function measureAllocations(context: SectionContext): Promise<Map<string, Allocation>> {
  context.tell("calls, allocation");
  const allocations = new Map<string, Allocation>();
  const scope = { ...context, profileFolder: null };
  const contestants = await startContestants(scope, allocationFlags);
  for (const { name, process } of contestants) {
    allocations.set(name, await process.ask("measureAllocation", 500));
    await process.close();
  }
  return allocations;
}

function toTable(
  figures: readonly CallFigures[],
  given: { concurrency: number; allocations: ReadonlyMap<string, Allocation> },
): ReportTable {
  const shown = figures.filter(({ concurrency }) => concurrency === given.concurrency);
  return {
    title: `One call of four questions, ${given.concurrency} in flight`,
    columns: [
      "",
      "CPU against undici",
      "CPU against this SDK",
      "CPU µs per call",
      "calls/s",
      "KB allocated",
    ],
    rows: shown.map((figure) => [
      figure.title,
      printRatio(figure.cpuAgainstRaw),
      printRatio(figure.cpuAgainstSdk),
      printSummary(figure.cpuUsPerCall),
      printNumber(figure.callsPerSecond.median),
      printAllocation(given.allocations.get(figure.name)),
    ]),
    note: "Medians over the rounds, quartiles in brackets. CPU is the whole process's.",
  };
}

function printRatio(ratio: Summary | null): string {
  return ratio === null ? "-" : printSummary(ratio, "×");
}

function printAllocation(allocation: Allocation | undefined): string {
  if (allocation === undefined) return "-";
  return printNumber((allocation.heapBytes + allocation.externalBytes) / 1024);
}
