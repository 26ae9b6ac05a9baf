import { setTimeout as nextTurn } from "node:timers/promises";
import { type CliContext, CliError } from "evaluator-cli-kit";
import type { RunInfo } from "evaluator-postgres";
import { printCount } from "./amounts.ts";
import type { ExportCommand } from "./commands.ts";
import { withResults } from "./journal-results.ts";
import { formatRecords, type TriageRecord } from "./output/write-records.ts";
import type { TriageContext } from "./service.ts";

/**
 * Prints the results of a run in the order of its input, whatever it has come to so far, and says how
 * many have no answer; returns the exit code, 0 or 2 when there are such.
 *
 * @throws CliError when there is no such run, or its journal cannot be used.
 */
export async function exportResults(
  command: ExportCommand,
  context: TriageContext,
): Promise<number> {
  let isPrinting = false;
  return await withResults(command, context, async ({ records, names, info }) => {
    // What is printed cannot be taken back, and read again it would follow what is there.
    if (isPrinting) throw new CliError("A run began while its journal was exported; export again.");
    isPrinting = true;
    let [count, failed] = [0, 0];
    const counted = async function* counted(): AsyncGenerator<TriageRecord> {
      for await (const record of records) {
        count += 1;
        failed += Number(record["error"] !== undefined);
        yield record;
      }
    };
    const { format } = command;
    for await (const piece of inPieces(formatRecords(counted(), { format, names }))) {
      context.signal.throwIfAborted();
      // A slow reader of a pipe gets no more than it takes.
      if (context.stdout.write(piece) === false) await drained(context);
    }
    if (failed === 0) return 0;
    context.stderr.write(describeLack({ count, failed }, info));
    return 2;
  });
}

function describeLack(
  { count, failed }: { readonly count: number; readonly failed: number },
  info: RunInfo | null,
): string {
  const next =
    info === null
      ? '"npm run triage -- work" asks for what is missing.'
      : `run ${info.run} is ${info.state}, and "npm run triage -- status" says more.`;
  return `${printCount(failed)} of ${printCount(count)} records have no answer, and say why in "error"; ${next}\n`;
}

const PIECE_LENGTH = 65_536;

async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

async function drained({ stdout }: CliContext): Promise<void> {
  const stream = stdout as Partial<NodeJS.WriteStream>;
  while (stream.writableNeedDrain === true && stream.destroyed !== true) await nextTurn(1);
}
