import type { MailHeaders, MailSource } from "../input/mail-schema.ts";

/** One file of a source: on the disk, or in an archive. */
export interface SourceFile {
  /** Its path in the source, `/` between folders. */
  readonly name: string;
  /** The start of its mails' names; empty if it is the source itself. */
  readonly prefix: string;
  /** Its path on the disk; null in an archive. */
  readonly diskPath: string | null;
  readonly modifiedAt: Date;
  /** Its content; can be read once. */
  readonly contentChunks: AsyncIterable<Buffer>;
  /** Gets the bytes that were read of a file on the disk, for the progress. */
  readonly onBytesRead?: ((byteCount: number) => void) | undefined;
}

/** One mail as its source has it, before the rules of the input are applied. */
export interface ImportedMail {
  /** The id in the source, or a hash of the bytes. */
  readonly id: string;
  /** The day it was sent, `YYYY-MM-DD`, or null if unknown. */
  readonly date: string | null;
  /** When it was received, in ISO 8601, or null if unknown. */
  readonly received: string | null;
  readonly from: string;
  readonly subject: string;
  /** The start of its text. */
  readonly text: string;
  /** Its labels, or null when the source has none. */
  readonly labels: readonly string[] | null;
  /** Why a mail that is left out is no longer in its folder, such as `deleted`; null for others. */
  readonly goneReason?: "deleted" | "of the folder itself" | null;
  /** Headers that the list reads. */
  readonly headers?: MailHeaders | undefined;
  readonly extra: {
    readonly attachments: readonly { readonly name: string; readonly type: string }[];
    /** The `List-Id` header; empty without one. */
    readonly listId: string;
    /** The `Authentication-Results` header that was added last; empty without one. */
    readonly authenticationResults: string;
  };
}

/** One mail of a source, not yet read. */
export interface FoundMail {
  /** Its place in the source, for messages; contains none of the mail's text. */
  readonly name: string;
  /** Where to find it again. */
  readonly source: MailSource;
  /** The day of a mail without a date. */
  readonly arrived: string;
  /** When the mailbox received it, in ISO 8601. */
  readonly deliveredAt?: string | null;
  /** Its bytes, or their start; none in a dump of the Gmail API. */
  readonly mailBytes?: Buffer;
  /** Parses it. @throws ImportProblem if it is broken. */
  readonly read: () => Promise<ImportedMail>;
}

/** A part of a source that is not imported. */
export interface NotRead {
  readonly name: string;
  /** Why, as the end of a sentence that begins with its name. */
  readonly reason: string;
  /** Whether it may be a mail that is lost. */
  readonly mayBeMail: boolean;
  /** Set for a file that its program keeps for a while, and that is counted alone. */
  readonly goneReason?: "deleted" | "unfinished";
}

/** Why a mail or file cannot be read: the end of a sentence that begins with its name, without a quote from it. */
export class ImportProblem extends Error {}
