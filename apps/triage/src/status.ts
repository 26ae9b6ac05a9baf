import { printable, type TextSink, truncateColumns } from "evaluator-cli-kit";
import type { PostgresRuns, RunInfo, WorkerInfo } from "evaluator-postgres";
import { printCount, printDuration, printMails, printUsd } from "./amounts.ts";
import type { StatusCommand } from "./commands.ts";
import { needJournalPlace } from "./journal-place.ts";
import { type JournalProgress, readJournal } from "./journal/journal-reader.ts";
import { withRuns } from "./postgres/open-runs.ts";
import type { TriageContext } from "./service.ts";
import { alignColumns } from "./table.ts";

const REDRAW_MS = 1000;

/**
 * Prints what runs have come to: how far they are, how fast, at what cost, and who works. In a
 * terminal it goes on until no run is open, or until Ctrl-C.
 */
export async function showStatus(command: StatusCommand, context: TriageContext): Promise<number> {
  const place = needJournalPlace(command, context);
  if (place.kind === "sqlite") {
    const { clock } = context;
    const startedAt = clock.now();
    let before: number | null = null;
    await shown(context, async () => {
      const progress = await readJournal(place.path, (journal) => journal.progress());
      before ??= progress.answered;
      const elapsedMs = clock.now() - startedAt;
      const perMs = elapsedMs > 0 ? (progress.answered - before) / elapsedMs : 0;
      return { text: describeFile(progress, perMs), isOver: progress.begun === 0 };
    });
    return 0;
  }
  const { url } = place;
  return await withRuns({ url, open: context.openRuns, supervises: false }, async (runs) => {
    await shown(context, async () => await describeRuns(runs, command));
    return 0;
  });
}

/** What is shown at one moment, and whether nothing more happens. */
interface Picture {
  readonly text: string;
  readonly isOver: boolean;
}

async function shown(
  { stdout, clock, signal }: TriageContext,
  look: () => Promise<Picture>,
): Promise<void> {
  const isLive = stdout.isTTY === true;
  for (let drawn = 0; ;) {
    const { text, isOver } = await look();
    const lines = text.split("\n").map((line) => fitted(line, stdout));
    const back = drawn > 0 ? `\u001b[${drawn}A\r\u001b[J` : "";
    stdout.write(back + lines.join("\n"));
    drawn = lines.length - 1;
    if (!isLive || isOver || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.schedule(REDRAW_MS, resolve);
      signal.addEventListener("abort", () => (cancel(), resolve()), { once: true });
    });
    if (signal.aborted) return;
  }
}

function fitted(line: string, { isTTY, columns = Number.POSITIVE_INFINITY }: TextSink): string {
  return isTTY === true ? truncateColumns(line, columns - 1) : line;
}

async function describeRuns(runs: PostgresRuns, { run }: StatusCommand): Promise<Picture> {
  const infos = run === null ? await runs.list() : [await runs.get(run)];
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
    workers.length === 1 ? "1 worker" : `${workers.length} workers`,
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

function describeFile({ mails, answered, failed, begun, costUsd }: JournalProgress, perMs: number) {
  const notes = [
    `${printCount(answered)} of ${printMails(mails)} answered`,
    ...(perMs > 0
      ? [
          `${(perMs * 1000).toFixed(1)} a second`,
          `${printDuration((mails - answered) / perMs)} left`,
        ]
      : []),
    printUsd(costUsd),
    `${printCount(failed)} failed`,
    `${printCount(begun)} in flight`,
  ];
  return `${notes.join(" · ")}\n`;
}
