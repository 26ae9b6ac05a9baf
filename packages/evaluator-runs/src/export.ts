import { CliError, printable, printTexts } from "evaluator-kit";
import { printCount, printCounted } from "./amounts.ts";
import type { ExportCommand } from "./options.ts";
import { type RunResults, withResults } from "./journal-results.ts";
import { formatRecords, toSafeTexts } from "./output/write-records.ts";
import { planOf, readFilter, readRules, toAnswered } from "./rules/rules-file.ts";
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
    const { source } = context;
    const rules =
      command.rules === undefined ? null : await readRules(command.rules, results.columns, context);
    const plan = rules === null ? null : planOf(rules, results.calibration);
    const names = plan === null ? await results.names() : ["id", "action"];
    // What is printed cannot be taken back, and read again it would follow what is there.
    if (isPrinting) throw new CliError("A run began meanwhile; export again.");
    isPrinting = true;
    const isShown = readFilter(command, results.columns);
    const counts = { all: 0, failed: 0, refused: 0 };
    const records = async function* records() {
      const newRecords = await results.newRecords();
      for await (const row of results.rows) {
        const answeredRow = toAnswered(row, results, newRecords);
        if (isShown?.(answeredRow) === false) continue;
        const { record } = answeredRow;
        counts.all += 1;
        counts.failed += Number(record["error"] !== undefined);
        counts.refused += Number(answeredRow.isRefused === true);
        if (plan === null) yield record;
        const takenEntry = plan?.take(answeredRow) ?? null;
        if (takenEntry !== null)
          yield { id: record.id, action: takenEntry.action, ...takenEntry.act };
      }
    };
    const texts = formatRecords(records(), { format: command.format, names });
    // A file gets each value as it is.
    const isShownHere = context.stdout.isTTY === true;
    const isWhole = await printTexts(isShownHere ? toSafeTexts(texts, command) : texts, context);
    // The reader of the output closed it early, as `head` does; the counts are of no use.
    if (!isWhole) return 0;
    if (plan !== null) context.stderr.write(describePlan(plan.rules(), counts.all, source.word));
    if (counts.failed === 0) return 0;
    context.stderr.write(describeLack(counts, source.program, results));
    return 2;
  });
}

type PlannedRules = ReturnType<ReturnType<typeof planOf>["rules"]>;

/** Returns a line for each rule, with its number of records and its promise, and then the sum. */
export function describePlan(rules: PlannedRules, all: number, word: string): string {
  const sum = rules.reduce((total, { taken: recordCount }) => total + recordCount, 0);
  const lines = rules.map(({ rule: { line, text, action }, taken: takenCount, promise }) => {
    const ruleText = printable`line ${String(line)}: ${text} → ${action}`;
    return `${ruleText}: ${printCounted(takenCount, word)}; ${promise}\n`;
  });
  return `${lines.join("")}Rules take ${printCount(sum)} of ${printCounted(all, word)}; nothing was done.\n`;
}

function describeLack(
  {
    all,
    failed: failedCount,
    refused: refusedCount,
  }: Readonly<Record<"all" | "failed" | "refused", number>>,
  program: string,
  { info, isShared }: Pick<RunResults, "info" | "isShared">,
): string {
  const next = isShared
    ? `run ${info.run} is ${info.state}, and "${program} status" prints more.`
    : nextOfFile(failedCount - refusedCount, refusedCount, `"${program} work"`);
  return `${printCount(failedCount)} of ${printCount(all)} records have no answer (see "error"); ${next}\n`;
}

function nextOfFile(open: number, refusedCount: number, work: string): string {
  if (refusedCount === 0) return `${work} asks for the missing answers.`;
  const refusedText = `${printCount(refusedCount)} refused as too long and not asked again`;
  return open === 0
    ? `${refusedText}.`
    : `${refusedText}; ${work} asks for ${printCount(open)} more.`;
}
