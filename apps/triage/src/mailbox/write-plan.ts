import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CliError, printable } from "evaluator-kit";
import type { ProgramContext } from "evaluator-runs/commands";
import {
  describePlan,
  planOf,
  readRules,
  type ResultRow,
  toAnswered,
  withResults,
} from "evaluator-runs/results";
import { toInputPath, toOutputPath, writePrivateFile } from "evaluator-runs/source";
import { mailOfRecord } from "../input/mail.ts";
import { mailSource } from "../mail-source.ts";
import { openActJournal, toJournalPath } from "./act-journal.ts";
import { FolderTable } from "./folder-table.ts";
import { parseAction, placeSchema, type PlanLine } from "./plan-line.ts";

type PlanCommand = Parameters<typeof withResults>[0] &
  Readonly<Record<"file" | "rules", string> & Partial<Record<"output", string>>>;

/** Writes which action the rules ask for on which mail, and prints the promise of each rule. */
export async function writePlan(command: PlanCommand, context: ProgramContext): Promise<number> {
  const { cwd, stderr } = context;
  const path = planPathOf(command, cwd);
  const modseq = modseqOf(command, cwd);
  return await withResults({ ...command, takesFile: true }, context, async (results) => {
    const rules = await readRules(command.rules, results.columns, { cwd, parseAction });
    const plan = planOf(rules, results.calibration);
    const newRecords = await results.newRecords();
    let all = 0;
    const lines = async function* lines() {
      for await (const row of results.rows) {
        all += 1;
        const taken = plan.take(toAnswered(row, results, newRecords));
        if (taken === null) continue;
        const line = { ...toLine(row, taken, rules[taken.at]?.text), modseq };
        yield `${JSON.stringify(line)}\n`;
      }
    };
    await writePrivateFile(path, lines(), "Make room there and run again.");
    stderr.write(describePlan(plan.rules(), all, mailSource.word));
    stderr.write(printable`Wrote ${path}. Read it; then "apply" does it.` + "\n");
    return 0;
  });
}

/** Returns the HIGHESTMODSEQ of the folder when it was read; null if it has none. */
function modseqOf({ file }: PlanCommand, cwd: string): string | null {
  const path = toInputPath(file, cwd).replace(/\.json$/, ".mailbox.sqlite");
  if (!existsSync(path)) return null;
  using table = new FolderTable(path);
  return table.state?.highestmodseq ?? null;
}

function planPathOf({ file, output }: PlanCommand, cwd: string): string {
  const results = toOutputPath(toInputPath(file, cwd), mailSource);
  const path = resolve(cwd, output ?? results.replace(/\.triage\.json$/, ".plan.ndjson"));
  const journal = toJournalPath(path);
  if (!existsSync(journal)) return path;
  using acts = openActJournal(path);
  if (acts.entries().length === 0) return path;
  const problem = printable`${journal} has what "apply" did with the plan before`;
  throw new CliError(`${problem}, and "undo" needs it. Move it away, or use another --output.`);
}

type Taken = NonNullable<ReturnType<ReturnType<typeof planOf>["take"]>>;

function toLine({ input }: ResultRow, { action, act }: Taken, rule = ""): Omit<PlanLine, "modseq"> {
  const { from, subject, headers } = mailOfRecord(input);
  const { data: place } = placeSchema.safeParse(input.source);
  const parsed = parseAction(action);
  if (place === undefined || typeof parsed === "string") {
    const problem = printable`The mail ${input.id} is not from a mailbox on a server`;
    throw new CliError(`${problem}. Import it: import imaps://USER@HOST/FOLDER OUT.json`);
  }
  const mail = { ...place, messageId: headers?.messageId ?? null, from, subject };
  const evidence = act.evidence && { ...act.evidence };
  return { id: input.id, ...mail, ...parsed, rule: `${rule} -> ${action}`, evidence };
}
