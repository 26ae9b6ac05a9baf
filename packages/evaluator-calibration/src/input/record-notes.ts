import type { Fields } from "./input-record.ts";
import { RepeatedColumns } from "./repeated-columns.ts";

/** The clusters and the days of records. */
export class RecordNotes {
  readonly #onePer: string | undefined;
  /** The cluster of each record that names one; without `onePer`, that of each record with the state of another. */
  readonly clusters = new Map<string, string>();
  /** The columns whose values may repeat. */
  readonly repeats = new RepeatedColumns();
  /** The first and the last day of the records that have a date. */
  readonly days: { from: string | null; to: string | null } = { from: null, to: null };
  /** The first record of each state. */
  readonly #states = new Map<string, string>();

  constructor(onePer: string | undefined) {
    this.#onePer = onePer;
  }

  /** Adds the cluster of a record, by its fields or those of its state. */
  addCluster(id: unknown, fields: Fields): void {
    if (this.#onePer === undefined || !Object.hasOwn(fields, this.#onePer)) return;
    const value = fields[this.#onePer];
    if ((typeof value === "string" && value !== "") || typeof value === "number") {
      this.clusters.set(String(id), String(value));
    }
  }

  /** Adds the records of one state, for which one label is enough, and returns its hash. */
  addCopy(id: string, key: string): string {
    if (this.#onePer !== undefined) return key;
    const first = this.#states.get(key) ?? id;
    this.#states.set(key, first);
    if (first !== id) for (const copy of [first, id]) this.clusters.set(copy, key);
    return key;
  }

  /** Adds the day of a record, if it has one: YYYY-MM-DD, more may follow. */
  addDate(date: unknown): void {
    if (typeof date !== "string" || !/^\d{4}-\d\d-\d\d/.test(date)) return;
    const day = date.slice(0, 10);
    if (this.days.from === null || day < this.days.from) this.days.from = day;
    if (this.days.to === null || day > this.days.to) this.days.to = day;
  }
}
