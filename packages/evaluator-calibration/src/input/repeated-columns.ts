import { textHash } from "../math/random.ts";
import type { Fields } from "./input-record.ts";

/** The fields of answers, labels and logs that this package reads, or that name no group of records. */
const KNOWN = new Set(
  "id question truth skipped weight drawn draw labeler origin week group probability probabilities answers modelId wire questionHash basis rounding requestId evaluationId outcome feedback error kind type".split(
    " ",
  ),
);

/** A column is left out if so many of its first values are mostly unique, and noted up to the second number. */
const RECORDS = { watched: 500, most: 100_000 };
const MOSTLY_UNIQUE = 0.9;
/** A group has at least so many labels on average; fewer groups are categories. */
const LEAST = { labels: 1.5, values: 10 };

/** The columns of records whose values repeat, such as a thread, a sender or a game. */
export class RepeatedColumns {
  /** The value of each record, by column; null for a column with mostly unique values. */
  readonly #columns = new Map<string, Map<string, string> | null>();

  /** Columns of short values. */
  get names(): string[] {
    return [...this.#columns.keys()];
  }

  /** Notes the short values of a record. */
  add(id: string, fields: Fields): void {
    for (const [name, value] of Object.entries(fields)) {
      if (KNOWN.has(name)) continue;
      const isShort = typeof value === "string" && value !== "" && value.length <= 200;
      if (!isShort && !Number.isSafeInteger(value)) continue;
      const notedMap = this.#columns.get(name);
      if (notedMap === null || notedMap?.size === RECORDS.most) continue;
      const values = (notedMap ?? new Map<string, string>()).set(id, textHash(String(value)));
      const isWatched = values.size === RECORDS.watched;
      const isUnique = isWatched && new Set(values.values()).size > MOSTLY_UNIQUE * values.size;
      this.#columns.set(name, isUnique ? null : values);
    }
  }

  /** Returns the columns in which some records have few values, those with the fewest first. */
  among(ids: readonly string[]) {
    return [...this.#columns]
      .map(([column, notedMap]) => {
        const values = ids.flatMap((id) => notedMap?.get(id) ?? []);
        return { column, n: new Set(values).size, labels: values.length };
      })
      .filter(({ n, labels }) => n >= LEAST.values && labels >= LEAST.labels * n)
      .toSorted((one, other) => one.n - other.n || (one.column < other.column ? -1 : 1));
  }
}
