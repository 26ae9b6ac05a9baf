import type { MailSource } from "../input/mail-schema.ts";
import type { ExtraHeaders } from "./extra-headers.ts";

/** Where the day of a mail comes from. */
export type DateBasis = "header" | "received" | "separator" | "file";

/** The day of a mail, `YYYY-MM-DD`. */
export interface MailDay {
  readonly day: string;
  readonly basis: DateBasis;
}

/** What a source says about one mail, before the rules of the input are applied. */
export interface ImportedMail {
  /** An id of the source's own, or one made from its bytes. */
  readonly id: string;
  /** When it was sent, or null when it does not say. */
  readonly date: MailDay | null;
  /** When it was received, in ISO 8601, or null when it does not say. */
  readonly received: string | null;
  readonly from: string;
  readonly subject: string;
  /** The start of its text. */
  readonly text: string;
  /** Its labels, or null when the source has none. */
  readonly labels: readonly string[] | null;
  readonly extra: ExtraHeaders;
}

/** One mail of a source, not yet read. */
export interface FoundMail {
  /** Where it stands in the source, for messages; nothing of its content. */
  readonly name: string;
  /** Where a person finds it again. */
  readonly source: MailSource;
  /** Whether it is so large that only its start is read. */
  readonly isCut: boolean;
  /** When it came, for a mail that does not say. */
  readonly arrived: MailDay;
  /** When its mailbox says that it was delivered, in ISO 8601. */
  readonly deliveredAt?: string | null;
  /**
   * Reads it.
   *
   * @throws ImportProblem when it is broken.
   */
  readonly read: () => Promise<ImportedMail>;
}

/** Something of a source that is not imported. */
export interface NotRead {
  readonly name: string;
  /** Why, in words that follow its name. */
  readonly reason: string;
  /** Whether mail may be lost by it, or it is none. */
  readonly isMail: boolean;
}

/** Why something cannot be read: words that follow its name, and quote nothing of it. */
export class ImportProblem extends Error {}
