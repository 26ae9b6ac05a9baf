import { CliError, printable } from "evaluator-kit";
import type { JsonValue } from "evaluator-client";
import { inputOf, needJournalAddress } from "../journal-address.ts";
import { answeredIn, findRun, putAway, withStoredRuns } from "../open-store.ts";
import type { LabelCommand } from "../options.ts";
import { besideInput, toInputPath } from "../output/paths.ts";
import { storedFactsSchema } from "../run-facts.ts";
import type { ProgramContext } from "../service.ts";
import type { RunInfo, StoredRuns } from "../store/stored-runs.ts";
import { readTable } from "./label-sheet.ts";

/** A command about the labels of a run. */
interface LabelledCommand extends Pick<LabelCommand, "journal" | "run" | "onePer"> {
  /** The input of the run. @default that of the journal */
  readonly file?: string | undefined;
}

/** Finds the run that labels are about; reads its answers, and the states of its records. */
export async function openLabelled(command: LabelledCommand, context: ProgramContext) {
  const { cwd, source, signal } = context;
  const address = await needJournalAddress(command, context);
  const isFile = address.kind === "sqlite";
  const end = command.run === undefined ? "" : `#${command.run}`;
  // The URL of a database may hold a password.
  const toName = ({ run }: RunInfo) =>
    isFile ? address.path + end : `"$${source.journalVariable}#${run}"`;
  const read = async (runs: StoredRuns) => {
    const info = await findRun(runs, command);
    const entries = async function* entries() {
      for await (const entry of answeredIn(runs, info, command)) {
        signal.throwIfAborted();
        yield entry;
      }
    };
    return { info, answers: await readTable(entries(), toName(info), command) };
  };
  const { info, answers } = await withStoredRuns(address, context, read);
  const inputPath = isFile
    ? inputOf(address, source, info.name)
    : toInputPath(command.file ?? info.name, cwd);
  return {
    answers,
    inputPath,
    labelsPath: besideInput(inputPath, ".labels.ndjson"),
    idColumn: toIdColumn(info),
    /** The journal, with the run of a database, as a command takes it. */
    name: toName(info),
    /** Reads the state of a record. @throws CliError if it has no answer any more */
    stateOf: async (id: string): Promise<JsonValue> => {
      const uncheckedContext = { ...context, isChecked: false };
      const row = await withStoredRuns(address, uncheckedContext, (runs) =>
        runs.find(id, runs.isShared ? info.run : (command.run ?? null)),
      );
      if (row !== null && row.evaluation !== null) return JSON.parse(row.state) as JsonValue;
      throw new CliError(printable`There is no answer about this ${source.word}.`);
    },
    /** Puts records away until a day, or takes them back with an empty text. */
    putAway: async (ids: readonly string[], until: string): Promise<void> =>
      await putAway(address, context, { name: info.name, ids, until }),
  };
}

function toIdColumn({ facts }: RunInfo): string {
  const { options, idColumn = "id" } = storedFactsSchema.parse(JSON.parse(facts));
  const id = options?.["id"];
  return typeof id === "string" ? id : idColumn;
}
