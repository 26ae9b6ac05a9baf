/** A table as it is printed: the first column is text, the others are numbers. */
export interface ReportTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What a reader must know, in a line. */
  readonly note?: string;
}

/** What one part of the benchmark found: tables for people, and everything measured for programs. */
export interface SectionResult {
  readonly tables: readonly ReportTable[];
  readonly data: unknown;
}
