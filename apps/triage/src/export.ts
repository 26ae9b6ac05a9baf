import { CliError } from "evaluator-cli-kit";
import type { RunInfo } from "evaluator-postgres";
import { printCount } from "./amounts.ts";
import type { ExportCommand } from "./commands.ts";
import { recordsOf, withResults } from "./journal-results.ts";
import { printTexts } from "./output/print-texts.ts";
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
  return await withResults(command, context, async (results) => {
    const { info } = results;
    const names = await results.names();
    // What is printed cannot be taken back, and read again it would follow what is there.
    if (isPrinting) throw new CliError("A run began while its journal was exported; export again.");
    isPrinting = true;
    let [count, failed] = [0, 0];
    const counted = async function* counted(): AsyncGenerator<TriageRecord> {
      for await (const record of recordsOf(results)) {
        count += 1;
        failed += Number(record["error"] !== undefined);
        yield record;
      }
    };
    const { format } = command;
    await printTexts(formatRecords(counted(), { format, names }), context);
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
