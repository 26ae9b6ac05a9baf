import { resolve } from "node:path";
import { type CliContext, printable, UsageError } from "evaluator-cli-kit";
import { toJournalPath } from "./output/paths.ts";

/** Where a journal is: a file of SQLite, or a database of PostgreSQL. */
export type JournalPlace =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string };

const SUFFIX = ".triage.sqlite";

/**
 * Returns where a journal is: as typed, else as TRIAGE_JOURNAL says, else beside the input; null
 * where none of these says.
 */
export function findJournalPlace(
  { journal, file = null }: { readonly journal: string | null; readonly file?: string | null },
  { cwd, env }: Pick<CliContext, "cwd" | "env">,
): JournalPlace | null {
  const named = journal ?? (env["TRIAGE_JOURNAL"]?.trim() || null);
  if (named !== null && /^postgres(?:ql)?:/i.test(named)) return { kind: "postgres", url: named };
  if (named !== null) {
    const path = resolve(cwd, named);
    if (!path.endsWith(SUFFIX)) {
      throw new UsageError(
        printable`A journal is a postgres:// URL or a file that ends in ${SUFFIX}, such as inbox.triage.sqlite.`,
      );
    }
    if (file !== null && toJournalPath(resolve(cwd, file)) !== path) {
      throw new UsageError("The journal of a file stands beside it; leave --journal out.");
    }
    return { kind: "sqlite", path };
  }
  return file === null ? null : { kind: "sqlite", path: toJournalPath(resolve(cwd, file)) };
}

/** Returns where a journal is that somebody must have named. */
export function needJournalPlace(
  command: { readonly journal: string | null },
  context: Pick<CliContext, "cwd" | "env">,
): JournalPlace {
  const place = findJournalPlace(command, context);
  if (place !== null) return place;
  throw new UsageError(
    "Name the journal: --journal FILE.triage.sqlite, or the URL of a PostgreSQL database in TRIAGE_JOURNAL.",
  );
}

/** Returns the input file that a journal file stands beside. */
export function inputOf({ path }: { readonly path: string }): string {
  return path.replace(/\.triage\.sqlite$/, ".json");
}
