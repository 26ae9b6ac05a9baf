import { textHash } from "../math/random.ts";
import type { Fields } from "./input-record.ts";

/** The fields of answers, labels and logs that this package reads, or that name no group of records. */
const KNOWN_COLUMNS = new Set(
  "id question truth skipped weight drawn draw labeler origin week group probability probabilities answers modelId wire questionHash basis rounding requestId evaluationId outcome feedback error kind type".split(
    " ",
  ),
);

/** A column is left out if so many of its first values are mostly unique, and noted up to the second number. */
const RECORD_LIMITS = { watched: 500, most: 100_000 };
const MOSTLY_UNIQUE = 0.9;
/** A group has at least so many labels on average; fewer groups are categories. */
const LEAST_REPEATS = { labels: 1.5, values: 10 };

/** The columns of records whose values repeat, such as a thread, a sender or a game. */
export class RepeatedColumns {
  /** The value of each record, by column; null for a column with mostly unique values. */
  readonly #columns = new Map<string, Map<string, string> | null>();

  /** Columns of short values. */
  get names(): string[] {
    return [...this.#columns.keys()];
  }

  /** Notes the short values of a record. */
  add(recordId: string, recordFields: Fields): void {
    for (const [columnName, columnValue] of Object.entries(recordFields)) {
      if (KNOWN_COLUMNS.has(columnName)) continue;
      const isShort =
        typeof columnValue === "string" && columnValue !== "" && columnValue.length <= 200;
      if (!isShort && !Number.isSafeInteger(columnValue)) continue;
      const notedMap = this.#columns.get(columnName);
      if (notedMap === null || notedMap?.size === RECORD_LIMITS.most) continue;
      const columnValues = (notedMap ?? new Map<string, string>()).set(
        recordId,
        textHash(String(columnValue)),
      );
      const isWatched = columnValues.size === RECORD_LIMITS.watched;
      const isUnique =
        isWatched && new Set(columnValues.values()).size > MOSTLY_UNIQUE * columnValues.size;
      this.#columns.set(columnName, isUnique ? null : columnValues);
    }
  }

  /** Returns the columns in which some records have few values, those with the fewest first. */
  among(recordIds: readonly string[]) {
    return [...this.#columns]
      .map(([columnName, notedMap]) => {
        const columnValues = recordIds.flatMap((recordId) => notedMap?.get(recordId) ?? []);
        return { column: columnName, n: new Set(columnValues).size, labels: columnValues.length };
      })
      .filter(({ n, labels }) => n >= LEAST_REPEATS.values && labels >= LEAST_REPEATS.labels * n)
      .toSorted(
        (firstColumn, secondColumn) =>
          firstColumn.n - secondColumn.n || (firstColumn.column < secondColumn.column ? -1 : 1),
      );
  }
}
