import { printable, UsageError } from "evaluator-kit";
import { computeConcurrency } from "../limits.ts";
import type { RunCommand } from "../options.ts";
import { toInputPath, toJournalPath, toOutputPath } from "../output/paths.ts";
import { type Column, readSetup, recordNames } from "../columns/columns.ts";
import { chooseQuestions } from "../questions/read-questions.ts";
import { readFilter } from "../rules/rules-file.ts";
import type { ProgramContext } from "../service.ts";
import { readNextEngine, serviceThrough } from "../next-engine.ts";

/** The inputs of a run, read and checked. */
export type RunContext = Awaited<ReturnType<typeof readRunContext>>;

/**
 * Reads the inputs of a run; writes and sends nothing.
 *
 * @throws CliError if one is missing or wrong.
 */
export async function readRunContext(run: RunCommand, program: ProgramContext) {
  const { openTransport, openCatalog, mayCost, ...context } = program;
  const { cwd, env, signal, stdin, source, newId } = context;
  const inputPath = toInputPath(run.file, cwd);
  const outputPath = toOutputPath(inputPath, source, run.format);
  const journalPath = toJournalPath(inputPath, source);
  const questions = await chooseQuestions(run.questions, context);
  const recordInput = await source.open(inputPath, {
    ...run,
    questions,
    signal,
    newId,
    stdin,
  });
  const setup = await readSetup(questions, run.calibration, context);
  const { columns } = setup;
  checkSort(run, columns);
  const isShown = readFilter(run, columns);
  const { offline, engine, dryRun } = run;
  const engineOptions = { offline, engine, dryRun, env };
  const transport = await openTransport(engineOptions);
  const nextEngine = await readNextEngine({ ...run, env }, questions, program);
  const nextOptions = { ...engineOptions, engine: run.then };
  const input = (await recordInput.withState?.(program)) ?? recordInput;
  return {
    ...context,
    ...setup,
    run: { ...run, concurrency: computeConcurrency(run, transport) },
    inputPath,
    outputPath,
    journalPath,
    /** All records; the run takes the first ones, up to its limit. */
    input,
    /** Returns whether the table shows a record; null if it shows all. */
    isShown,
    transport,
    /** The price list, or null. */
    catalog: await openCatalog(engineOptions),
    /** The engine that is asked again for unsure answers, with its price list; null without one. */
    next: nextEngine && { ...nextEngine, catalog: await openCatalog(nextOptions) },
    service: serviceThrough(transport, nextEngine),
    /** See {@link ProgramContext.mayCost}; null for its default. */
    mayCost:
      mayCost === undefined
        ? null
        : (await mayCost(engineOptions)) || (nextEngine !== null && (await mayCost(nextOptions))),
  };
}

/** Throws a UsageError for a field to sort by that the results do not have. */
function checkSort({ sort }: RunCommand, resultColumns: readonly Column[]): void {
  const shownColumns = resultColumns.filter(
    (shownColumn) => shownColumn.asked === null || shownColumn.part !== "printed",
  );
  const names = recordNames({ columns: shownColumns }, false);
  if (sort === undefined || names.includes(sort)) return;
  throw new UsageError(printable`--sort takes one of ${names.join(", ")}.`);
}
