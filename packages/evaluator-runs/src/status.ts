import { pause, printable, truncateColumns } from "evaluator-kit";
import type { Progress, RunInfo, StoredRuns, WorkerInfo } from "./store/stored-runs.ts";
import { describeCost, printCount, printCounted, printDuration, printUsd } from "./amounts.ts";
import type { FileCommand } from "./options.ts";
import { needJournalAddress } from "./journal-address.ts";
import { type Look, withLooks } from "./open-store.ts";
import { interrupted } from "./run/interruption.ts";
import { toInputName } from "./output/paths.ts";
import type { ProgramContext } from "./service.ts";
import { alignColumns } from "./columns/table.ts";

const REDRAW_MS = 1000; // chosen, not measured: as often as workers report

/**
 * Prints the progress, rate, cost and workers of runs; in a terminal until no run is under way, or
 * until Ctrl-C. Returns the exit code.
 */
export async function showStatus(
  command: FileCommand<"status">,
  context: ProgramContext,
): Promise<number> {
  const address = await needJournalAddress(command, context);
  return await withLooks(address, context, (look) =>
    shown(context, pictures(look, command, context)),
  );
}

/** The text at one moment, and whether it can still change. */
interface Picture {
  readonly text: string;
  readonly isOver: boolean;
}

/** Returns a function that describes the runs as they are, and the rate since the first call. */
function pictures(
  look: Look,
  command: FileCommand<"status">,
  { clock, source }: ProgramContext,
): () => Promise<Picture> {
  const startedAt = clock.now();
  let before: number | null = null;
  return async () =>
    await look(async (runs) => {
      const progress = command.run === undefined ? await runs.progress?.() : undefined;
      if (progress === undefined) return await describeRuns(runs, command);
      before ??= progress.answered;
      const elapsedMs = clock.now() - startedAt;
      const perMs = elapsedMs > 0 ? (progress.answered - before) / elapsedMs : 0;
      return { text: describeProgress(progress, perMs, source), isOver: !progress.isUnderWay };
    });
}

/** Prints a picture, in a terminal again and again until it is over; returns the exit code. */
async function shown(
  { stdout, clock, signal }: ProgramContext,
  look: () => Promise<Picture>,
): Promise<number> {
  const { isTTY, columns = Number.POSITIVE_INFINITY } = stdout;
  const fitted = (line: string) => (isTTY ? truncateColumns(line, columns - 1) : line);
  for (let drawnCount = 0; ;) {
    const startedAt = clock.now();
    const { text, isOver } = await look();
    const lookedMs = clock.now() - startedAt;
    const lines = text.split("\n").map(fitted);
    const back = drawnCount > 0 ? `\u001b[${drawnCount}A\r\u001b[J` : "";
    stdout.write(back + lines.join("\n"));
    drawnCount = lines.length - 1;
    if (!isTTY || isOver) return 0;
    // Reading a journal of a million records takes seconds.
    await pause(Math.max(REDRAW_MS, lookedMs), { clock, signal });
    if (signal.aborted) return interrupted("Interrupted.", signal).exitCode;
  }
}

async function describeRuns(
  runs: StoredRuns,
  { run, file }: FileCommand<"status">,
): Promise<Picture> {
  const all = run === undefined ? await runs.list(toInputName(file)) : [await runs.get(run)];
  const infos = all.toSorted((one, other) => one.run - other.run);
  if (infos.length === 0) return { text: "No run yet.\n", isOver: true };
  const rows = [
    ["run", "state", "answered", "of", "failed", "cost", "name"],
    ...infos.map((info) => [
      String(info.run),
      info.state,
      printCount(info.answered),
      printCount(info.records),
      printCount(info.failed),
      printUsd(info.costUsd),
      printable`${info.name}`,
    ]),
  ];
  const open = infos.filter(({ state }) => state === "open");
  const details = await Promise.all(
    open.map(async (info) => describeOpenRun(info, await runs.workers(info.run))),
  );
  const isUnderWay = (await runs.progress?.())?.isUnderWay ?? true;
  const lostNames = infos
    .filter(({ state, uncountedUsd }) => state !== "open" && uncountedUsd > 0)
    .map((info) => `Run ${info.run} cost ${describeCost(info)}.\n`);
  const reasons = infos
    .filter(({ state, stoppedBy }) => state === "stopped" && stoppedBy !== null)
    .map((info) => printable`Run ${String(info.run)} was stopped: ${info.stoppedBy ?? ""}\n`);
  const parts = [...alignColumns(() => rows), ...details, ...lostNames, ...reasons];
  return { text: parts.join(""), isOver: open.length === 0 || !isUnderWay };
}

/** Returns the rate, time left, cost and workers of an open run. */
function describeOpenRun(info: RunInfo, workers: readonly WorkerInfo[]): string {
  const perSecond = workers.reduce((sum, worker) => sum + worker.perSecond, 0);
  const remainingCount = info.records - info.answered - info.failed;
  const time =
    perSecond > 0
      ? `${printDuration((remainingCount / perSecond) * 1000)} left`
      : "no answer lately";
  const most = info.maxCostUsd === null ? "" : ` of at most ${printUsd(info.maxCostUsd)}`;
  const usdEach = info.costUsd === null ? null : info.costUsd / Math.max(1, info.asked);
  const head = [
    `run ${info.run}: ${perSecond.toFixed(1)} a second`,
    time,
    `${describeCost(info)}${most}, about ${printUsd(usdEach && usdEach * remainingCount)} to come`,
    printCounted(workers.length, "worker"),
  ].join(" · ");
  const rows = workers.map((worker) => [
    ` ${printable`${worker.name}`}`,
    `${worker.perSecond.toFixed(1)} a second`,
    `${printCount(worker.answered)} answered`,
    `${printCount(worker.failed)} failed`,
    `${printCount(worker.inFlight)} in flight`,
    `seen ${(worker.seenMsAgo / 1000).toFixed(0)} s ago`,
  ]);
  return `${head}\n${[...alignColumns(() => rows)].join("")}`;
}

function describeProgress(
  {
    records,
    answered: answeredCount,
    failed: failedCount,
    refused: refusedCount,
    begun: begunCount,
    costUsd,
    isUnderWay,
  }: Progress,
  perMs: number,
  { word, program }: Pick<ProgramContext["source"], "word" | "program">,
): string {
  const remainingCount = records - answeredCount - failedCount;
  const speed =
    perMs > 0
      ? [`${(perMs * 1000).toFixed(1)} a second`, `${printDuration(remainingCount / perMs)} left`]
      : ["a run is under way"];
  const inFlight = isUnderWay ? "in flight" : "in flight when the run ended";
  const lines = [
    [
      `${printCount(answeredCount)} of ${printCounted(records, word)} answered`,
      ...(isUnderWay ? speed : []),
    ],
    [
      answeredCount > 0 && costUsd === null ? "cost not reported" : printUsd(costUsd ?? 0),
      `${printCount(failedCount)} failed`,
      ...(isUnderWay || begunCount > 0 ? [`${printCount(begunCount)} ${inFlight}`] : []),
    ],
  ];
  const open = printCount(records - answeredCount - refusedCount);
  const next = `No run is under way; "${program} work" asks for the other ${open}.`;
  if (!isUnderWay && answeredCount + refusedCount < records) lines.push([next]);
  return lines.map((notes) => `${notes.join(" · ")}\n`).join("");
}
