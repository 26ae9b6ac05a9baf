/** One record of a file and the line it begins on. */
export interface InputRecord {
  readonly line: number;
  readonly value: unknown;
}

/** Takes a text in pieces of any size, and gives the records that are whole. */
export interface RecordSplitter {
  push(text: string): InputRecord[];
  /** Returns what is left; throws where the last record is cut. */
  end(): InputRecord[];
}
