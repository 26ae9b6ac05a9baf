import { CliError, printable, printTexts } from "evaluator-kit";
import type { RunInfo } from "./postgres/index.ts";
import { printCount, printCounted } from "./amounts.ts";
import type { ExportCommand } from "./options.ts";
import { toAnswered, withResults } from "./journal-results.ts";
import { formatRecords, toSafeTexts, type ResultRecord } from "./output/write-records.ts";
import type { AnsweredRecord } from "./rules/conditions.ts";
import { readFilter, readRules, type Rule, takeRecord } from "./rules/rules-file.ts";
import type { ProgramContext } from "./service.ts";

/**
 * Prints the results of a run so far in the order of its input, and the number of records without an
 * answer; returns the exit code, 2 if there are any.
 */
export async function exportResults(
  command: ExportCommand,
  context: ProgramContext,
): Promise<number> {
  let isPrinting = false;
  return await withResults(command, context, async (results) => {
    const { info } = results;
    const { source } = context;
    const rules =
      command.rules === undefined ? null : await readRules(command.rules, results.columns, context);
    const names = rules === null ? await results.names() : ["id", "action"];
    // What is printed cannot be taken back, and read again it would follow what is there.
    if (isPrinting) throw new CliError("A run began while its journal was exported; export again.");
    isPrinting = true;
    const isShown = readFilter(command, results.columns);
    let [count, failed, refused] = [0, 0, 0];
    const counted = async function* counted(): AsyncGenerator<AnsweredRecord> {
      const newRecords = await results.newRecords();
      for await (const row of results.rows) {
        const answered = toAnswered(row, results, newRecords);
        if (isShown?.(answered) === false) continue;
        count += 1;
        failed += Number(answered.record["error"] !== undefined);
        refused += Number(answered.isRefused === true);
        yield answered;
      }
    };
    const { format } = command;
    const taken = (rules ?? []).map(() => 0);
    const records = rules === null ? recordsOf(counted()) : actionsOf(counted(), { rules, taken });
    const texts = formatRecords(records, { format, names });
    // A file gets each value as it is.
    const isShownHere = context.stdout.isTTY === true;
    const isWhole = await printTexts(isShownHere ? toSafeTexts(texts, command) : texts, context);
    // The reader of the output closed it early, as `head` does; the counts are of no use.
    if (!isWhole) return 0;
    if (rules !== null) context.stderr.write(describePlan(rules, { taken, count }, source.word));
    if (failed === 0) return 0;
    context.stderr.write(describeLack({ count, failed, refused, program: source.program }, info));
    return 2;
  });
}

async function* recordsOf(answered: AsyncIterable<AnsweredRecord>): AsyncGenerator<ResultRecord> {
  for await (const { record } of answered) yield record;
}

/** Returns the ids of the records that rules take, and what they do with them. */
async function* actionsOf(
  answered: AsyncIterable<AnsweredRecord>,
  { rules, taken }: { readonly rules: readonly Rule[]; readonly taken: number[] },
): AsyncGenerator<{ id: string; action: string }> {
  for await (const one of answered) {
    const at = takeRecord(rules, one).taken;
    if (at === null) continue;
    taken[at] = (taken[at] ?? 0) + 1;
    yield { id: one.record.id, action: rules[at]?.action ?? "" };
  }
}

function describePlan(
  rules: readonly Rule[],
  { taken, count }: { readonly taken: readonly number[]; readonly count: number },
  word: string,
): string {
  const all = taken.reduce((sum, one) => sum + one, 0);
  const lines = rules.map(
    ({ line, text, action }, at) =>
      printable`line ${String(line)}: ${text} → ${action}: ${printCounted(taken[at] ?? 0, word)}\n`,
  );
  return `${lines.join("")}Rules take ${printCount(all)} of ${printCounted(count, word)}; nothing was done to any of them.\n`;
}

/** How many records there are, have no answer, and are refused as too long. */
interface Lack {
  readonly count: number;
  readonly failed: number;
  readonly refused: number;
  /** The words that start the program. */
  readonly program: string;
}

function describeLack({ count, failed, refused, program }: Lack, info: RunInfo | null): string {
  const next =
    info === null
      ? nextOfFile(failed - refused, refused, `"${program} work"`)
      : `run ${info.run} is ${info.state}, and "${program} status" prints more.`;
  return `${printCount(failed)} of ${printCount(count)} records have no answer, and say why in "error"; ${next}\n`;
}

function nextOfFile(open: number, refused: number, work: string): string {
  if (refused === 0) return `${work} asks for what is missing.`;
  const kept = `${printCount(refused)} refused as too long and not asked again`;
  return open === 0 ? `${kept}.` : `${kept}; ${work} asks for the other ${printCount(open)}.`;
}
