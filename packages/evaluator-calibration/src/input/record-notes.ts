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
  readonly #firstIdByState = new Map<string, string>();

  constructor(onePer: string | undefined) {
    this.#onePer = onePer;
  }

  /** Adds the cluster of a record, by its fields or those of its state. */
  addCluster(recordId: unknown, recordFields: Fields): void {
    if (this.#onePer === undefined || !Object.hasOwn(recordFields, this.#onePer)) return;
    const clusterValue = recordFields[this.#onePer];
    if (
      (typeof clusterValue === "string" && clusterValue !== "") ||
      typeof clusterValue === "number"
    ) {
      this.clusters.set(String(recordId), String(clusterValue));
    }
  }

  /** Adds the records of one state, for which one label is enough, and returns its hash. */
  addCopy(recordId: string, stateKey: string): string {
    if (this.#onePer !== undefined) return stateKey;
    const firstId = this.#firstIdByState.get(stateKey) ?? recordId;
    this.#firstIdByState.set(stateKey, firstId);
    if (firstId !== recordId)
      for (const copyId of [firstId, recordId]) this.clusters.set(copyId, stateKey);
    return stateKey;
  }

  /** Adds the day of a record, if it has one: YYYY-MM-DD, more may follow. */
  addDate(dateValue: unknown): void {
    if (typeof dateValue !== "string" || !/^\d{4}-\d\d-\d\d/.test(dateValue)) return;
    const dayText = dateValue.slice(0, 10);
    if (this.days.from === null || dayText < this.days.from) this.days.from = dayText;
    if (this.days.to === null || dayText > this.days.to) this.days.to = dayText;
  }
}
