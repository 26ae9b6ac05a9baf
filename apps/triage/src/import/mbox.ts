import type { FoundMail } from "./found-mail.ts";
import {
  fileDay,
  header,
  MESSAGE_BYTES,
  parseDay,
  parseMessage,
  parseTime,
} from "./parse-message.ts";
import type { SourceFile } from "./source-files.ts";

const [NEWLINE, RETURN, ARROW, LETTER_F] = [10, 13, 62, 70];
const LINE_BYTES = 64 * 1024;
const HEAD_BYTES = 512;

/**
 * A separator ends with the day of delivery: "Mon Nov  2 09:00:00 2026", with a zone before or after
 * the year, or "Mon, 2 Nov 2026 09:00 +0100". The sender before it may have spaces, or be missing.
 */
const datedSeparator =
  /^From (?:.{1,300} )?((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? {1,2}(?:[A-Z][a-z]{2} {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2}),?(?: (?:19|20)\d\d)? {1,2}\d{1,2}:\d\d(?::\d\d)?(?: (?:[A-Z]{1,5}|[+-]\d{4}))?(?: (?:19|20)\d\d)?(?: (?:[A-Z]{1,5}|[+-]\d{4}))?)(?: remote from \S{1,100})?[ \r\n]*$/;
/** "From " and "From - " of Thunderbird, or a sender alone. */
const bareSeparator = /^From (?:- ?|\S{1,300} ?)?[\r\n]*$/;
/** Headers a mail begins with, as no sentence does. */
const usualHeader =
  /^(?:[A-Za-z]{1,30}-[\w-]{1,60}|Received|Date|From|To|Cc|Bcc|Subject|Sender|Status|Importance|Precedence|Priority)[ \t]{0,20}:/i;

/**
 * Finds the mails of an mbox, one at a time.
 *
 * @param start - The number of bytes in the file before the chunks.
 */
export async function* mboxMails(
  file: SourceFile,
  chunks: AsyncIterable<Buffer>,
  start = 0,
): AsyncGenerator<FoundMail> {
  const splitter = new MboxSplitter();
  const toFound = ({ number, offset, delivered, bytes, isCut }: MboxMessage): FoundMail => {
    const day = parseDay(delivered);
    return {
      name: `${file.prefix}message ${number}`,
      source: { file: file.name, offset: start + offset },
      isCut,
      arrived: day === null ? fileDay(file) : { day, basis: "separator" },
      deliveredAt: parseTime(delivered),
      read: async () => await parseMessage(bytes),
    };
  };
  for await (const chunk of chunks) {
    for (const message of splitter.split(chunk)) yield toFound(message);
  }
  for (const message of splitter.end()) yield toFound(message);
}

/** Returns whether text begins as an mbox does. */
export function isMbox(text: string): boolean {
  const [first = "", second = ""] = text.split("\n", 2);
  return datedSeparator.test(first) || (bareSeparator.test(first) && header.test(second));
}

/** One message of an mbox file. */
interface MboxMessage {
  /** Its number in the file, from 1. */
  readonly number: number;
  /** The offset of its separator, in bytes. */
  readonly offset: number;
  /** The time of delivery in its separator; empty without one. */
  readonly delivered: string;
  /** Its start, some {@link MESSAGE_BYTES}. */
  readonly bytes: Uint8Array;
  /** Whether there is more of it. */
  readonly isCut: boolean;
}

interface OpenMessage {
  readonly offset: number;
  readonly delivered: string;
  readonly lines: Buffer[];
  length: number;
}

/**
 * Splits an mbox into messages; `>From ` lines become `From ` again. Only the start of one message
 * is held at a time, however long the file and its attachments are.
 *
 * A line of a mail may look like a separator: so one must have a date, and a header below it; where
 * no empty line is before it, as in some exports, a usual header. One without a date counts only
 * after an empty line, in a file whose first has none either.
 */
class MboxSplitter {
  #rest: Buffer = Buffer.alloc(0);
  /** Whether the next bytes begin a line; otherwise they continue a very long one. */
  #isLineStart = true;
  #isAfterBlank = true;
  #open: OpenMessage | null = null;
  #number = 0;
  #takesBare = false;
  /** A line that is a separator if the next one is a header. */
  #candidate: { line: Buffer; head: string; offset: number; isAfterBlank: boolean } | null = null;
  /** The offset of the next line, in bytes. */
  #offset = 0;

  /** Returns the messages that end in a piece of the file. */
  *split(chunk: Buffer): Generator<MboxMessage> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      yield* this.#take(bytes.subarray(start, end + 1));
      this.#isLineStart = true;
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
    if (this.#rest.length < LINE_BYTES) return;
    yield* this.#take(this.#rest);
    this.#isLineStart = false;
    this.#rest = Buffer.alloc(0);
  }

  /** Returns the last message at the end of the file. */
  *end(): Generator<MboxMessage> {
    if (this.#rest.length > 0) yield* this.#take(this.#rest);
    if (this.#candidate !== null) this.#add(this.#candidate.line);
    yield* this.#close();
  }

  *#take(line: Buffer): Generator<MboxMessage> {
    const head = this.#isLineStart ? headOf(line) : "";
    const offset = this.#offset;
    this.#offset += line.length;
    const candidate = this.#candidate;
    this.#candidate = null;
    if (candidate !== null) {
      if (this.#separates(candidate, headOf(line, true))) {
        yield* this.#close();
        this.#begin(candidate);
      } else this.#add(candidate.line);
    }
    const isAfterBlank = this.#isAfterBlank;
    this.#isAfterBlank = head === "\n" || head === "\r\n";
    if (head.startsWith("From ")) this.#candidate = { line, head, offset, isAfterBlank };
    else this.#add(/^>+From /.test(head) ? line.subarray(1) : line);
  }

  #separates({ head, isAfterBlank }: { head: string; isAfterBlank: boolean }, next: string) {
    const isBelievable = this.#number === 0 || isAfterBlank;
    if (datedSeparator.test(head)) return (isBelievable ? header : usualHeader).test(next);
    const isFirst = this.#number === 0;
    if (!bareSeparator.test(head) || !(isFirst || (this.#takesBare && isAfterBlank))) return false;
    return usualHeader.test(next);
  }

  #begin({ head, offset }: { readonly head: string; readonly offset: number }): void {
    this.#number += 1;
    const delivered = datedSeparator.exec(head)?.[1] ?? "";
    if (this.#number === 1) this.#takesBare = delivered === "";
    this.#open = { offset, delivered, lines: [], length: 0 };
  }

  #add(line: Buffer): void {
    if (this.#open === null) return;
    if (this.#open.length < MESSAGE_BYTES) this.#open.lines.push(line);
    this.#open.length += line.length;
  }

  *#close(): Generator<MboxMessage> {
    if (this.#open === null) return;
    const { offset, delivered, lines, length } = this.#open;
    this.#open = null;
    const bytes = Buffer.concat(lines);
    const isCut = length > bytes.length;
    yield { number: this.#number, offset, delivered, bytes, isCut };
  }
}

/** Returns the start of a line as text if it may be a separator. */
function headOf(line: Buffer, isNeeded = false): string {
  const [first] = line;
  const canMatter = first === LETTER_F || first === ARROW || first === NEWLINE || first === RETURN;
  return isNeeded || canMatter ? line.toString("latin1", 0, HEAD_BYTES) : "";
}
