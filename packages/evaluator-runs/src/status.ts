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
  const journalAddress = await needJournalAddress(command, context);
  return await withLooks(journalAddress, context, (lookAtRuns) =>
    shown(context, pictures(lookAtRuns, command, context)),
  );
}

/** The text at one moment, and whether it can still change. */
interface Picture {
  readonly text: string;
  readonly isOver: boolean;
}

/** Returns a function that describes the runs as they are, and the rate since the first call. */
function pictures(
  lookAtRuns: Look,
  command: FileCommand<"status">,
  { clock, source }: ProgramContext,
): () => Promise<Picture> {
  const startedAt = clock.now();
  let answeredBefore: number | null = null;
  return async () =>
    await lookAtRuns(async (storedRuns) => {
      const progress = command.run === undefined ? await storedRuns.progress?.() : undefined;
      if (progress === undefined) return await describeRuns(storedRuns, command);
      answeredBefore ??= progress.answered;
      const elapsedMs = clock.now() - startedAt;
      const perMs = elapsedMs > 0 ? (progress.answered - answeredBefore) / elapsedMs : 0;
      return { text: describeProgress(progress, perMs, source), isOver: !progress.isUnderWay };
    });
}

/** Prints a picture, in a terminal again and again until it is over; returns the exit code. */
async function shown(
  { stdout, clock, signal }: ProgramContext,
  takePicture: () => Promise<Picture>,
): Promise<number> {
  const { isTTY, columns = Number.POSITIVE_INFINITY } = stdout;
  const fitLine = (line: string) => (isTTY ? truncateColumns(line, columns - 1) : line);
  for (let drawnCount = 0; ;) {
    const startedAt = clock.now();
    const { text, isOver } = await takePicture();
    const lookedMs = clock.now() - startedAt;
    const pictureLines = text.split("\n").map(fitLine);
    const cursorBack = drawnCount > 0 ? `\u001b[${drawnCount}A\r\u001b[J` : "";
    stdout.write(cursorBack + pictureLines.join("\n"));
    drawnCount = pictureLines.length - 1;
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
  const listedRuns = run === undefined ? await runs.list(toInputName(file)) : [await runs.get(run)];
  const infos = listedRuns.toSorted((firstRun, otherRun) => firstRun.run - otherRun.run);
  if (infos.length === 0) return { text: "No run yet.\n", isOver: true };
  const tableRows = [
    ["run", "state", "answered", "of", "failed", "cost", "name"],
    ...infos.map((runInfo) => [
      String(runInfo.run),
      runInfo.state,
      printCount(runInfo.answered),
      printCount(runInfo.records),
      printCount(runInfo.failed),
      printUsd(runInfo.costUsd),
      printable`${runInfo.name}`,
    ]),
  ];
  const openRuns = infos.filter(({ state }) => state === "open");
  const openDetails = await Promise.all(
    openRuns.map(async (openRun) => describeOpenRun(openRun, await runs.workers(openRun.run))),
  );
  const isUnderWay = (await runs.progress?.())?.isUnderWay ?? true;
  const lostNames = infos
    .filter(({ state, uncountedUsd }) => state !== "open" && uncountedUsd > 0)
    .map((lostRun) => `Run ${lostRun.run} cost ${describeCost(lostRun)}.\n`);
  const stopReasons = infos
    .filter(({ state, stoppedBy }) => state === "stopped" && stoppedBy !== null)
    .map((info) => printable`Run ${String(info.run)} was stopped: ${info.stoppedBy ?? ""}\n`);
  const parts = [...alignColumns(() => tableRows), ...openDetails, ...lostNames, ...stopReasons];
  return { text: parts.join(""), isOver: openRuns.length === 0 || !isUnderWay };
}

/** Returns the rate, time left, cost and workers of an open run. */
function describeOpenRun(openRun: RunInfo, workers: readonly WorkerInfo[]): string {
  const perSecond = workers.reduce((rateSum, worker) => rateSum + worker.perSecond, 0);
  const remainingCount = openRun.records - openRun.answered - openRun.failed;
  const timeText =
    perSecond > 0
      ? `${printDuration((remainingCount / perSecond) * 1000)} left`
      : "no answer lately";
  const most = openRun.maxCostUsd === null ? "" : ` of at most ${printUsd(openRun.maxCostUsd)}`;
  const usdEach = openRun.costUsd === null ? null : openRun.costUsd / Math.max(1, openRun.asked);
  const headText = [
    `run ${openRun.run}: ${perSecond.toFixed(1)} a second`,
    timeText,
    `${describeCost(openRun)}${most}, about ${printUsd(usdEach && usdEach * remainingCount)} to come`,
    printCounted(workers.length, "worker"),
  ].join(" · ");
  const workerRows = workers.map((workerInfo) => [
    ` ${printable`${workerInfo.name}`}`,
    `${workerInfo.perSecond.toFixed(1)} a second`,
    `${printCount(workerInfo.answered)} answered`,
    `${printCount(workerInfo.failed)} failed`,
    `${printCount(workerInfo.inFlight)} in flight`,
    `seen ${(workerInfo.seenMsAgo / 1000).toFixed(0)} s ago`,
  ]);
  return `${headText}\n${[...alignColumns(() => workerRows)].join("")}`;
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
  const speedTexts =
    perMs > 0
      ? [`${(perMs * 1000).toFixed(1)} a second`, `${printDuration(remainingCount / perMs)} left`]
      : ["a run is under way"];
  const inFlight = isUnderWay ? "in flight" : "in flight when the run ended";
  const lineNotes = [
    [
      `${printCount(answeredCount)} of ${printCounted(records, word)} answered`,
      ...(isUnderWay ? speedTexts : []),
    ],
    [
      answeredCount > 0 && costUsd === null ? "cost not reported" : printUsd(costUsd ?? 0),
      `${printCount(failedCount)} failed`,
      ...(isUnderWay || begunCount > 0 ? [`${printCount(begunCount)} ${inFlight}`] : []),
    ],
  ];
  const openCount = printCount(records - answeredCount - refusedCount);
  const nextStep = `No run is under way; "${program} work" asks for the other ${openCount}.`;
  if (!isUnderWay && answeredCount + refusedCount < records) lineNotes.push([nextStep]);
  return lineNotes.map((notes) => `${notes.join(" · ")}\n`).join("");
}
