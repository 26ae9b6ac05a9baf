import {
  artifactHash,
  checkThreshold,
  type JoinedColumn,
  type LabelJoin,
  toLabelledRows,
} from "evaluator-calibration";
import { CliError, type CliContext, printable } from "evaluator-kit";
import { exitCodeOf } from "./check.ts";
import type { ReportOptions } from "./commands/report-commands.ts";
import { describeNewLabels, joinNewLabels } from "./new-labels.ts";
import { type ActColumn, readActs } from "./read-acts.ts";
import { readArtifact } from "./read-files.ts";
import { count, range } from "./report/sentences.ts";

type AuditOptions = ReportOptions<"audit">;

/** Tests on later labels whether the promises that acts rest on were kept. */
export async function audit(name: string, options: AuditOptions, context: CliContext) {
  const { labels, last, question: questions, artifact: files = [] } = options;
  const table = await readActs(name, context);
  const columns = table.columns.filter(({ question }) => questions?.includes(question) ?? true);
  const artifacts = await Promise.all(files.map((file) => readArtifact(file, context)));
  for (const [at, artifact] of artifacts.entries()) {
    const hash = artifactHash(artifact);
    if (columns.some(({ source }) => source.modelId === hash)) continue;
    const problem = printable`No act of ${name} rests on ${files[at] ?? ""}`;
    throw new CliError(`${problem}; give the calibration that act was given.`);
  }
  const given = { labels, last, questions, allowUnknown: true, artifacts };
  const found = await joinNewLabels(table, given, context);
  const audits = columns.flatMap((column) => {
    const joined = found.join.columns.find((one) => one.column === column);
    return checkPromises(column, joined);
  });
  const notes = [...describeNewLabels(found, artifacts), ...describeOthers(table, found.join)];
  for (const note of notes) context.stderr.write(`${note}\n`);
  const isJson = options.json === true;
  context.stdout.write(isJson ? `${JSON.stringify(audits, null, 2)}\n` : describe(audits));
  context.exitCode = exitCodeOf(audits);
}

function checkPromises(column: ActColumn, joined: JoinedColumn | undefined) {
  const { question, source, acts, promises, isOfOptions } = column;
  return [...promises].slice(0, isOfOptions ? 1 : 2).map(([act, promise]) => {
    const isTaken = (id: string) => isOfOptions || acts[column.rowOf(id) as number] === act;
    const none = { p: [], cameTrue: [] };
    const rows = joined === undefined ? none : toLabelledRows(joined, isTaken).tested;
    // Each value is how sure the answer is of its act, whichever it is.
    const locked = { ...promise, question, action: "yes", n: 0, wrong: 0 } as const;
    const { n, wrong, low, high, verdict } = checkThreshold(locked, rows);
    const about = { artifact: source.modelId ?? "", question, action: isOfOptions ? "top" : act };
    return Object.assign(about, promise, { n, wrong, low, high, verdict });
  });
}

function describe(audits: readonly ReturnType<typeof checkPromises>[number][]): string {
  const hasSeveral = new Set(audits.map(({ artifact }) => artifact)).size > 1;
  const lines = audits.map(({ artifact, question, action, verdict, n, wrong, ...interval }) => {
    const by = hasSeveral ? ` (calibration ${artifact})` : "";
    const kept = verdict === "holds" ? "kept" : verdict;
    return printable`${question} ${action}${by}: ${kept}, ${count(wrong)} wrong of ${count(n)} (${range(interval)})`;
  });
  return `${lines.join("\n")}\n`;
}

function* describeOthers(
  { questions }: { readonly questions: readonly string[] },
  join: LabelJoin,
) {
  const counts = questions.map((question) => join.countsOf(question));
  const known = counts.reduce((sum, one) => sum + one.labelledWithoutAnswer, 0);
  const unknown = counts.reduce((sum, one) => sum + one.unknown, 0);
  if (known + unknown === 0) return;
  yield `${count(known + unknown)} labels have no act: ${count(known)} of records that were left to a person, ${count(unknown)} of ids without a line.`;
}
