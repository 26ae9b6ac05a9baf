import type { CliContext } from "./context.ts";
import { truncateColumns } from "./printable.ts";

// A terminal is drawn over; a log gets few lines.
const CLEAR_LINE = "\r\u001b[K";
const [FIRST_MS, TERMINAL_MS, LOG_MS] = [1000, 250, 10_000];

/** Shows the progress of work that takes longer than a second, until `end`; a terminal is cleared then. */
export function createProgress({ stderr, clock }: Pick<CliContext, "stderr" | "clock">) {
  const isTerminal = stderr.isTTY === true;
  const columns = stderr.columns || Number.POSITIVE_INFINITY; // 0 if the size is unknown
  let dueAt = clock.now() + (isTerminal ? FIRST_MS : LOG_MS);
  return {
    /** Shows a line if one is due; call it as often as you like. */
    show(describe: () => string): void {
      if (clock.now() < dueAt) return;
      dueAt = clock.now() + (isTerminal ? TERMINAL_MS : LOG_MS);
      // A line that wraps cannot be drawn over.
      const line = isTerminal ? truncateColumns(describe(), columns - 1) : `${describe()}\n`;
      stderr.write(isTerminal ? CLEAR_LINE + line : line);
    },
    end(): void {
      if (isTerminal) stderr.write(CLEAR_LINE);
    },
  };
}
