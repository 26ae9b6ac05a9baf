/** What a source says about one mail, before the rules of the input are applied. */
export interface ImportedMail {
  /** An id of the source's own, or null. */
  readonly id: string | null;
  /** When it was sent, or null when that is not known. */
  readonly date: Date | null;
  readonly from: string;
  readonly subject: string;
  /** The start of its text. */
  readonly text: string;
  /** Its labels, or null when the source has none. */
  readonly labels: readonly string[] | null;
}

/** One mail of a source, not yet read. */
export interface FoundMail {
  /** Its place in the source, for messages; nothing of its content. */
  readonly place: string;
  /** Whether it is so large that only its start is read. */
  readonly isCut: boolean;
  /**
   * Reads it.
   *
   * @throws Error when it is broken.
   */
  readonly read: () => Promise<ImportedMail>;
}
