import type { CliContext } from "./context.ts";
import { truncateColumns } from "./printable.ts";

// A terminal is drawn over; a log gets few lines.
const CLEAR_LINE = "\r\u001b[K";
const [FIRST_LINE_MS, TERMINAL_LINE_MS, LOG_LINE_MS] = [1000, 250, 10_000];

/** Shows the progress of work that takes longer than a second, until `end`; a terminal is cleared then. */
export function createProgress({ stderr, clock }: Pick<CliContext, "stderr" | "clock">) {
  const isTerminal = stderr.isTTY === true;
  const terminalColumns = stderr.columns || Number.POSITIVE_INFINITY; // 0 if the size is unknown
  let nextLineMs = clock.now() + (isTerminal ? FIRST_LINE_MS : LOG_LINE_MS);
  return {
    /** Shows a line if one is due; call it as often as you like. */
    show(describeProgress: () => string): void {
      if (clock.now() < nextLineMs) return;
      nextLineMs = clock.now() + (isTerminal ? TERMINAL_LINE_MS : LOG_LINE_MS);
      // A line that wraps cannot be drawn over.
      const progressLine = isTerminal
        ? truncateColumns(describeProgress(), terminalColumns - 1)
        : `${describeProgress()}\n`;
      stderr.write(isTerminal ? CLEAR_LINE + progressLine : progressLine);
    },
    end(): void {
      if (isTerminal) stderr.write(CLEAR_LINE);
    },
  };
}
