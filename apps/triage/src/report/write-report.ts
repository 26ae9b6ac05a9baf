import { bundleScript } from "evaluator-kit/bundle-script";
import { basename } from "node:path";
import {
  CliError,
  printable,
  printTexts,
  toFileError,
  toPrintable,
  toPrintablePath,
} from "evaluator-kit";
import {
  askedQuestions,
  printCount,
  printMails,
  toInputPath,
  toOutputPath,
  writeMailFile,
} from "evaluator-runs/source";
import type { ProgramContext } from "evaluator-runs/commands";
import {
  describeFilter,
  inputOf,
  type NewRecords,
  promiseOf,
  readFilter,
  readRules,
  type Rule,
  type RunResults,
  takeMail,
  toAnswered,
  withResults,
} from "evaluator-runs/results";
import type { ReportCommand } from "../options.ts";
import { ContextChanges } from "./context-changes.ts";
import { describeBasis, factsOf, figuresOf } from "./describe-runs.ts";
import { quoted } from "./mail-item.ts";
import { MailList } from "./mail-list.ts";
import type { PlannedRule } from "./plan-table.ts";
import { reportPage } from "./report-page.ts";
import { Sections } from "./sections.ts";
import { Tally } from "./tally.ts";
import { type ShownSender, toMailRow } from "./to-mail-row.ts";

// Who wrote once in a million mails is not worth its memory.
const SENDERS_KEPT = 10_000;

/**
 * Makes a page from the results of the newest run: `.triage.html` in place of `.json`, or printed
 * where no file is named.
 *
 * @throws CliError when there are no results, or the page cannot be written.
 */
export async function writeReport(
  command: ReportCommand,
  context: ProgramContext,
): Promise<number> {
  return await makeAndWrite(command, context).catch((error: unknown) => {
    throw toSortError(error);
  });
}

// A CliError reports those of the journal already.
function toSortError(error: unknown): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  const problem = printable`Cannot sort the mails in a temporary file: ${error.message}.`;
  return new CliError(`${problem} Make room there, or name another folder with TMPDIR.`);
}

async function makeAndWrite(command: ReportCommand, context: ProgramContext): Promise<number> {
  const { cwd, stderr } = context;
  const pieces = await withResults(
    { ...command, takesFile: true, isOrdered: false },
    context,
    async (results) => makeReport(results, command, context),
  );
  if (command.file === undefined) {
    await printTexts(inTurn(pieces), context);
    return 0;
  }
  const input = toInputPath(command.file, cwd);
  const inputPath = input.endsWith(".triage.sqlite") ? inputOf({ path: input }) : input;
  const path = toOutputPath(inputPath).replace(/\.json$/, ".html");
  await writeMailFile(path, pieces).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "Make room there and run again.");
  });
  stderr.write(printable`Wrote ${path}\n`);
  return 0;
}

async function* inTurn(pieces: Iterable<string>): AsyncGenerator<string> {
  yield* pieces;
}

async function makeReport(
  results: RunResults,
  command: ReportCommand,
  context: ProgramContext,
): Promise<Iterable<string>> {
  const { questions, columns, calibration, info, facts } = results;
  const rules =
    command.rules === undefined ? null : await readRules(command.rules, columns, context);
  const parts = {
    newRecords: await results.newRecords(),
    isShown: readFilter(command, columns),
    plan: rules === null ? null : new Plan(rules),
    sections: new Sections(questions),
  };
  const { list, tally, changes, all } = await readRows(results, parts, context);
  const { newRecords, plan, sections } = parts;
  const runs = info === null ? facts : [factsOf(info)];
  const after =
    command.file === undefined ? "" : ` ${quoted(toPrintablePath(basename(command.file)))}`;
  return reportPage({
    list,
    sections,
    tally,
    facts: {
      questions: sections.questions,
      score: sections.score,
      choice: sections.choice,
      actions: (rules ?? []).map(({ action }) => action),
      explain: ["npm run triage -- explain ", after],
    },
    basis: describeBasis(runs, calibration, all),
    notes: [...describeNew(newRecords, tally), ...describeShown(command, list.length, all.mails)],
    plan: plan?.planned(results) ?? null,
    changes: changes.toHtml(),
    figures: figuresOf(runs, { mails: list.length, failed: tally.failed }),
    script: await bundleScript(new URL("script/main.ts", import.meta.url)),
  });
}

/** What each mail of the results is read with. */
interface ReportParts {
  readonly newRecords: NewRecords | null;
  readonly isShown: ReturnType<typeof readFilter>;
  readonly plan: Plan | null;
  readonly sections: Sections;
}

/** Reads the results once, mail by mail. */
async function readRows(
  results: RunResults,
  { newRecords, isShown, plan, sections }: ReportParts,
  { signal }: ProgramContext,
) {
  const list = new MailList(sections);
  const tally = new Tally(sections.questions);
  const changes = new ContextChanges(sections.questions, results);
  const asked = askedQuestions(results.questions);
  const senders = new Map<string, ShownSender>();
  const all = { mails: 0, failed: 0 };
  for await (const row of results.rows) {
    signal.throwIfAborted();
    all.mails += 1;
    all.failed += Number(row.kept === null);
    const answered = toAnswered(row, results, newRecords);
    if (isShown?.(answered) === false) continue;
    const rule = plan?.take(answered) ?? -1;
    if (senders.size >= SENDERS_KEPT) senders.clear();
    const shown = toMailRow(row, { answered, asked, rule, senders });
    list.add(shown, sections.rankOf(shown.answers));
    tally.add(shown);
    await changes.add(row);
  }
  return { list, tally, changes, all };
}

function describeNew(newRecords: NewRecords | null, { added }: Tally): string[] {
  if (newRecords === null) return [];
  const day = newRecords.since.slice(0, 10);
  return [`${printMails(added)} ${added === 1 ? "is" : "are"} new since the run of ${day}.`];
}

function describeShown(command: ReportCommand, shown: number, all: number): string[] {
  const filter = describeFilter(command);
  if (filter === null) return [];
  return [`Shown are ${printCount(shown)} of ${printMails(all)}: ${toPrintable(filter)}.`];
}

/** Counts what rules take. */
class Plan {
  readonly #rules: readonly Rule[];
  readonly #taken: number[];
  readonly #before: number[];

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#taken = rules.map(() => 0);
    this.#before = rules.map(() => 0);
  }

  /** Returns the index of the rule that takes a mail; -1 for none. */
  take(mail: Parameters<typeof takeMail>[1]): number {
    const { taken, also } = takeMail(this.#rules, mail);
    if (taken === null) return -1;
    this.#taken[taken] = (this.#taken[taken] ?? 0) + 1;
    for (const at of also) this.#before[at] = (this.#before[at] ?? 0) + 1;
    return taken;
  }

  /** Returns the rules with what they take, and whether that was promised. */
  planned(options: Pick<RunResults, "calibration">): PlannedRule[] {
    return this.#rules.map((rule, at) => ({
      ...rule,
      count: this.#taken[at] ?? 0,
      promise: promiseOf(rule, { ...options, takenBefore: this.#before[at] ?? 0 }),
    }));
  }
}
