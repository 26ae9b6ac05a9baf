import type { FoundMail, SourceFile } from "./found-mail.ts";
import { parseTime } from "./mail-dates.ts";
import { fileDay, header, linesOf, parseMessage } from "./parse-message.ts";

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

/** The offset of the chunks in their file, how much of a mail is kept, and the start of the file. */
type MboxPart = Readonly<Record<"at" | "most", number> & { text: string }>;

/** Finds the mails of an mbox, one at a time. */
export async function* mboxMails(file: SourceFile, chunks: AsyncIterable<Buffer>, part: MboxPart) {
  const splitter = new MboxSplitter(part);
  const toFound = ({ number, offset, delivered, lines }: MboxMessage): FoundMail => {
    const deliveredAt = parseTime(delivered);
    const bytes = Buffer.concat(lines);
    return {
      name: `${file.prefix}message ${number}`,
      source: { file: file.name, offset: part.at + offset },
      arrived: deliveredAt?.slice(0, 10) ?? fileDay(file),
      deliveredAt,
      bytes,
      read: async () => await parseMessage(bytes),
    };
  };
  for await (const lines of lineGroups(chunks)) {
    const ended = lines.map((line) => splitter.take(line));
    for (const message of ended) if (message !== null) yield toFound(message);
  }
  if (splitter.open !== null) yield toFound(splitter.open);
}

/** Yields the lines of each piece of a file, a very long one in parts; an empty one ends the last. */
async function* lineGroups(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const lines = [...linesOf(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))];
    const last = lines.at(-1);
    const isWhole = last === undefined || last.at(-1) === NEWLINE || last.length >= LINE_BYTES;
    rest = (isWhole ? undefined : lines.pop()) ?? Buffer.alloc(0);
    yield lines;
  }
  yield [rest, Buffer.alloc(0)];
}

/** Returns whether text begins as an mbox does. */
export function isMbox(text: string): boolean {
  const [first = "", second = ""] = text.split("\n", 2);
  return datedSeparator.test(first) || (bareSeparator.test(first) && header.test(second));
}

interface MboxMessage {
  /** Its number in the file, from 1. */
  readonly number: number;
  /** The offset of its separator, in bytes. */
  readonly offset: number;
  /** The time of delivery in its separator; empty without one. */
  readonly delivered: string;
  /** The lines of its start, about as much as is kept. */
  readonly lines: Buffer[];
  /** Their length, in bytes. */
  length: number;
}

/**
 * Splits an mbox into messages, and holds the start of one; `>From ` lines become `From ` again.
 *
 * A line of a mail may look like a separator. So a separator needs a date and a header below it, or a
 * usual header if no empty line is before it, as in some exports. One without a date needs an empty
 * line before it, in a file whose first separator has none either.
 */
class MboxSplitter {
  /** The last line; the next one decides whether it is a separator. */
  #line: Buffer = Buffer.alloc(0);
  /** The offset of that line, in bytes. */
  #offset = 0;
  /** Whether that line begins as one; otherwise it continues a very long one. */
  #isLineStart = true;
  #isAfterBlank = true;
  /** The message whose end was not seen. */
  open: MboxMessage | null = null;
  readonly #takesBare: boolean;
  readonly #most: number;

  constructor({ most, text }: MboxPart) {
    this.#most = most;
    this.#takesBare = !datedSeparator.test(text.split("\n", 1)[0] ?? "");
  }

  /** Takes the last line with the next one at hand; returns the message that it ends. */
  take(next: Buffer): MboxMessage | null {
    const [line, offset, isAfterBlank] = [this.#line, this.#offset, this.#isAfterBlank];
    this.#line = next;
    if (line.length === 0) return null;
    const head = this.#isLineStart ? headOf(line) : "";
    this.#offset += line.length;
    this.#isLineStart = line.at(-1) === NEWLINE;
    this.#isAfterBlank = head === "\n" || head === "\r\n";
    if (!head.startsWith("From ") || !this.#separates(head, isAfterBlank, headOf(next, true))) {
      this.#add(/^>+From /.test(head) ? line.subarray(1) : line);
      return null;
    }
    const ended = this.open;
    const delivered = datedSeparator.exec(head)?.[1] ?? "";
    this.open = { number: (ended?.number ?? 0) + 1, offset, delivered, lines: [], length: 0 };
    return ended;
  }

  #separates(head: string, isAfterBlank: boolean, next: string): boolean {
    const isFirst = this.open === null;
    if (datedSeparator.test(head))
      return (isFirst || isAfterBlank ? header : usualHeader).test(next);
    if (!bareSeparator.test(head) || !(isFirst || (this.#takesBare && isAfterBlank))) return false;
    return usualHeader.test(next);
  }

  #add(line: Buffer): void {
    if (this.open === null || this.open.length >= this.#most) return;
    this.open.lines.push(line);
    this.open.length += line.length;
  }
}

/** Returns the start of a line as text if it may be a separator. */
function headOf(line: Buffer, isNeeded = false): string {
  const [first] = line;
  const canMatter = first === LETTER_F || first === ARROW || first === NEWLINE || first === RETURN;
  return isNeeded || canMatter ? line.toString("latin1", 0, HEAD_BYTES) : "";
}
