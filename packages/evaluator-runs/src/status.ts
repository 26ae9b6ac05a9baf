import { printable, type TextSink, truncateColumns } from "evaluator-kit";
import type { PostgresRuns, RunInfo, WorkerInfo } from "./postgres/index.ts";
import { printCount, printCounted, printDuration, printMails, printUsd } from "./amounts.ts";
import type { StatusCommand } from "./options/journal-options.ts";
import { needJournalAddress } from "./journal-address.ts";
import type { JournalProgress } from "./journal/journal-reader.ts";
import { readJournal } from "./journal/read-journal.ts";
import { isRunUnderWay } from "./journal/open-journal.ts";
import { withRuns } from "./workers/open-runs.ts";
import { interrupted, pause } from "./run/interruption.ts";
import type { ProgramContext } from "./service.ts";
import { alignColumns } from "./columns/table.ts";

const REDRAW_MS = 1000; // chosen, not measured: as often as workers report

/**
 * Prints what runs have come to: how far they are, how fast, at what cost, and who works. In a
 * terminal it goes on until no run is under way, or until Ctrl-C. Returns the exit code.
 */
export async function showStatus(command: StatusCommand, context: ProgramContext): Promise<number> {
  const address = await needJournalAddress(command, context);
  if (address.kind === "sqlite") return await shown(context, fileProgress(address.path, context));
  const { url } = address;
  return await withRuns({ url, open: context.openRuns, supervises: false }, (runs) =>
    shown(context, () => describeRuns(runs, command)),
  );
}

/** Returns a function that reads how far a journal file is, and how fast since it was first called. */
function fileProgress(path: string, { clock }: ProgramContext): () => Promise<Picture> {
  const startedAt = clock.now();
  let before: number | null = null;
  return async () => {
    const isRunning = isRunUnderWay(path);
    // Damage is looked for once; of what comes later SQLite tells what it meets.
    const isChecked = before === null;
    const progress = await readJournal(path, (journal) => journal.progress(), { isChecked });
    before ??= progress.answered;
    const elapsedMs = clock.now() - startedAt;
    const perMs = elapsedMs > 0 ? (progress.answered - before) / elapsedMs : 0;
    return { text: describeFile(progress, { perMs, isRunning }), isOver: !isRunning };
  };
}

/** What is shown at one moment, and whether nothing more happens. */
type Picture = Awaited<ReturnType<typeof describeRuns>>;

/** Draws a picture, in a terminal again and again until nothing more happens; returns the exit code. */
async function shown(
  { stdout, clock, signal }: ProgramContext,
  look: () => Promise<Picture>,
): Promise<number> {
  for (let drawn = 0; ;) {
    const startedAt = clock.now();
    const { text, isOver } = await look();
    const lookedMs = clock.now() - startedAt;
    const lines = text.split("\n").map((line) => fitted(line, stdout));
    const back = drawn > 0 ? `\u001b[${drawn}A\r\u001b[J` : "";
    stdout.write(back + lines.join("\n"));
    drawn = lines.length - 1;
    if (stdout.isTTY !== true || isOver) return 0;
    // To add up a journal of a million mails takes seconds.
    await pause(Math.max(REDRAW_MS, lookedMs), { clock, signal });
    if (signal.aborted) return interrupted("Interrupted.", signal).exitCode;
  }
}

function fitted(line: string, { isTTY, columns = Number.POSITIVE_INFINITY }: TextSink): string {
  return isTTY === true ? truncateColumns(line, columns - 1) : line;
}

async function describeRuns(runs: PostgresRuns, { run }: StatusCommand) {
  const infos = run === undefined ? await runs.list() : [await runs.get(run)];
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
  const stopped = infos.filter(({ state, stoppedBy }) => state === "stopped" && stoppedBy !== null);
  const reasons = stopped.map(
    ({ run: number, stoppedBy }) =>
      printable`Run ${String(number)} was stopped: ${stoppedBy ?? ""}`,
  );
  const parts = [...alignColumns(() => rows), ...details, ...reasons.map((line) => `${line}\n`)];
  return { text: parts.join(""), isOver: open.length === 0 };
}

/** Returns how fast an open run is, how long it still takes, and who works on it. */
function describeOpenRun(info: RunInfo, workers: readonly WorkerInfo[]): string {
  const perSecond = workers.reduce((sum, worker) => sum + worker.perSecond, 0);
  const left = info.records - info.answered - info.failed;
  const time =
    perSecond > 0 ? `${printDuration((left / perSecond) * 1000)} left` : "no answer lately";
  const most = info.maxCostUsd === null ? "" : ` of at most ${printUsd(info.maxCostUsd)}`;
  const asked = info.asked > 0 ? info.costUsd / info.asked : 0;
  const head = [
    `run ${info.run}: ${perSecond.toFixed(1)} a second`,
    time,
    `${printUsd(info.costUsd)}${most}, about ${printUsd(asked * left)} to come`,
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

/** What is known of a journal file besides its mails. */
interface FileRun {
  /** Answers a millisecond; 0 when it is not known yet. */
  readonly perMs: number;
  readonly isRunning: boolean;
}

function describeFile(progress: JournalProgress, { perMs, isRunning }: FileRun): string {
  const { mails, answered, failed, refused, begun, costUsd } = progress;
  const left = mails - answered - failed;
  const speed =
    perMs > 0
      ? [`${(perMs * 1000).toFixed(1)} a second`, `${printDuration(left / perMs)} left`]
      : ["a run is under way"];
  const inFlight = isRunning ? "in flight" : "in flight when the run ended";
  const lines = [
    [`${printCount(answered)} of ${printMails(mails)} answered`, ...(isRunning ? speed : [])],
    [
      answered > 0 && costUsd === null ? "cost not reported" : printUsd(costUsd ?? 0),
      `${printCount(failed)} failed`,
      ...(isRunning || begun > 0 ? [`${printCount(begun)} ${inFlight}`] : []),
    ],
    ...(isRunning || answered + refused === mails
      ? []
      : [
          [
            `No run is under way; "npm run triage -- work" asks for the other ${printCount(mails - answered - refused)}.`,
          ],
        ]),
  ];
  return lines.map((notes) => `${notes.join(" · ")}\n`).join("");
}
