import { withRest } from "evaluator-kit";
import type { FoundMail, NotRead, SourceFile } from "./found-mail.ts";
import { parseTime } from "./mail-dates.ts";
import { fileDay, header, linesOf, parseMessage } from "./parse-message.ts";

const [NEWLINE, RETURN, ARROW, LETTER_F] = [10, 13, 62, 70];
/** How far is read ahead for the end that a `Content-Length` gives; a longer mail is split by its lines. */
const MOST_AHEAD = 16 * 1024 * 1024;
const LINE_BYTES = 64 * 1024;
const HEAD_BYTES = 512;

/**
 * A separator ends with the day of delivery: "Mon Nov  2 09:00:00 2026", with a zone before or after
 * the year, or "Mon, 2 Nov 2026 09:00 +0100". The sender before it may have spaces, or be missing.
 */
const datedSeparator =
  /^From (?:.{1,300}[ \t])?((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? {1,2}(?:[A-Z][a-z]{2} {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2}),?(?: (?:19|20)\d\d)? {1,2}\d{1,2}:\d\d(?::\d\d)?(?: (?:[A-Z]{1,5}|[+-]\d{4}))?(?: (?:19|20)\d\d)?(?: (?:[A-Z]{1,5}|[+-]\d{4}))?)(?: remote from \S{1,100})?[ \r\n]*$/;
/** "From " and "From - " of Thunderbird, or a sender alone. */
const bareSeparator = /^From (?:- ?|\S{1,300} ?)?[\r\n]*$/;
/** Headers a mail begins with, as no sentence does. */
const usualHeader =
  /^(?:[A-Za-z]{1,30}-[\w-]{1,60}|Received|Date|From|To|Cc|Bcc|Subject|Sender|Status|Importance|Precedence|Priority)[ \t]{0,20}:/i;

/** The offset of the chunks in their file, and how much of a mail is kept. */
type MboxPart = Readonly<Record<"at" | "most", number>>;

/** Finds the mails of an mbox, one at a time, then names the lines in them that may separate mails. */
export async function* mboxMails(
  file: SourceFile,
  chunks: AsyncIterable<Buffer>,
  { at, most }: MboxPart,
): AsyncGenerator<FoundMail | NotRead> {
  const splitter = new MboxSplitter(most);
  let last: string | null = null;
  const toFound = (
    { number, offset, time, lines }: MboxMessage,
    next: string | null,
  ): FoundMail => {
    const bytes = Buffer.concat(lines);
    const isDelivery = ![last, next].some((other) => isSameMoment(time, other));
    last = time;
    return {
      name: `${file.prefix}message ${number}`,
      source: { file: file.name, offset: at + offset },
      arrived: time?.slice(0, 10) ?? fileDay(file),
      deliveredAt: isDelivery ? time : null,
      bytes,
      read: async () => ({ ...(await parseMessage(bytes)), gone: goneIn(bytes) }),
    };
  };
  for await (const lines of lineGroups(chunks)) {
    for (const message of splitter.split(lines))
      yield toFound(message, splitter.open?.time ?? null);
  }
  if (splitter.open !== null) yield toFound(splitter.open, null);
  if (splitter.doubts.length > 0)
    yield { name: file.name, reason: doubtOf(splitter.doubts, at), isMail: true };
}

function doubtOf(doubts: readonly number[], at: number): string {
  const count = `${doubts.length} ${doubts.length === 1 ? "line looks like a separator and was" : "lines look like separators and were"}`;
  return `${count} not taken: at byte ${withRest(
    doubts.map((offset) => String(at + offset)),
    5,
  ).join(", ")}`;
}

/** Programs that convert mails write the time of this for each of them. */
function isSameMoment(time: string | null, other: string | null): boolean {
  if (time === null || other === null) return false;
  return Math.abs(Date.parse(time) - Date.parse(other)) <= 2000;
}

/** Returns the time of a separator; null for the constants of git, public-inbox, mairix, Claws and movemail. */
function deliveryTime(head: string): string | null {
  const time = parseTime(datedSeparator.exec(head)?.[1] ?? "");
  return time === null || /^(?:19[67]\d|2001-09-17T00:00:00)/.test(time) ? null : time;
}

/** Returns how the programs of an mbox marked a mail that is no longer in it; null for others. */
function goneIn(bytes: Buffer): "deleted" | "of the folder itself" | null {
  const [head = ""] = bytes.toString("latin1", 0, 64 * 1024).split(/\r?\n\r?\n/, 1);
  if (isFolderData(head)) return "of the folder itself";
  const [, status = "0"] = /^x-mozilla-status:[ \t]{0,20}([\da-f]{1,8})/im.exec(head) ?? [];
  const isDeleted =
    (Number.parseInt(status, 16) & 8) !== 0 || /^x-status:[ \t]{0,20}[A-CE-Z]{0,20}D/im.test(head);
  return isDeleted ? "deleted" : null;
}

/** Returns whether a header is that of the mail in which mail servers keep the data of a folder. */
export function isFolderData(head: string): boolean {
  return (
    /^subject:.{0,40}FOLDER INTERNAL DATA/im.test(head) &&
    /^from:.{0,100}(?:MAILER-DAEMON|Mail System Internal Data)/im.test(head)
  );
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
  /** The time in its separator, in ISO 8601; null if it is none of a delivery. */
  readonly time: string | null;
  /** The lines of its start, about as much as is kept. */
  readonly lines: Buffer[];
  /** Their length, in bytes. */
  length: number;
  /** The end that its `Content-Length` gives, as an offset; 0 without one. */
  end: number;
}

/**
 * Splits an mbox into messages, and holds the start of one; `>From ` lines become `From ` again.
 *
 * A line of a mail may look like a separator. So one with a date needs a header below it, or a usual
 * header if no empty line is before it, as in some exports. One without a date needs a usual header
 * below it, and an empty line before it or a second header. Programs that quote no line write a
 * `Content-Length`: if it ends at a separator or the file's end, no line before separates.
 */
class MboxSplitter {
  /** Lines that are read and not yet taken, with the offset of the first. */
  #lines: Buffer[] = [];
  #offset = 0;
  /** The offset up to which lines are read, and the separators before it that are not yet taken. */
  #readTo = 0;
  readonly #separators = new Set<number>();
  #isEnd = false;
  /** Whether the next line begins as one; otherwise it continues a very long one. */
  #isLineStart = true;
  #isReadLineStart = true;
  #isAfterBlank = true;
  #isHeader = false;
  /** The message whose end was not seen. */
  open: MboxMessage | null = null;
  /** The offsets of lines that look like separators and are none. */
  readonly doubts: number[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes more lines, an empty one at the end; returns the messages that end in the lines read. */
  *split(lines: readonly Buffer[]): Generator<MboxMessage> {
    for (const line of lines) this.#read(line);
    let at = 0;
    // Two lines more show if one separates.
    for (; at < this.#lines.length - (this.#isEnd ? 0 : 2); at += 1) {
      const [line = Buffer.of(), next = Buffer.of(), afterNext = Buffer.of()] = [
        this.#lines[at],
        this.#lines[at + 1],
        this.#lines[at + 2],
      ];
      const head = this.#isLineStart ? headOf(line, this.#isHeader) : "";
      const isSeparator =
        head.startsWith("From ") &&
        this.#separates(head, headOf(next, true), headOf(afterNext, true));
      if (isSeparator && this.#mustReadOn()) break;
      const ended = this.open;
      if (isSeparator && !this.#isInside()) this.#begin(head);
      else this.#add(line, head);
      this.#separators.delete(this.#offset);
      this.#offset += line.length;
      this.#isLineStart = line.at(-1) === NEWLINE;
      this.#isAfterBlank = head === "\n" || head === "\r\n";
      if (ended !== null && ended !== this.open) yield ended;
    }
    this.#lines = this.#lines.slice(at);
  }

  #read(line: Buffer): void {
    if (line.length === 0) {
      this.#isEnd = true;
      return;
    }
    const head = this.#isReadLineStart ? headOf(line) : "";
    if (isSeparatorLine(head)) this.#separators.add(this.#readTo);
    this.#lines.push(line);
    this.#readTo += line.length;
    this.#isReadLineStart = line.at(-1) === NEWLINE;
  }

  #separates(head: string, next: string, afterNext: string): boolean {
    const isAfterBlank = this.open === null || this.#isAfterBlank;
    const hasTwo = header.test(afterNext) || /^[ \t]/.test(afterNext);
    const [isUsual, isDated, bare] = [
      usualHeader.test(next),
      datedSeparator.test(head),
      bareSeparator.exec(head),
    ];
    const isQuoted =
      next.startsWith(">From ") && isSeparatorLine(next.slice(1)) && header.test(afterNext);
    if (isDated && (isQuoted || isUsual || (isAfterBlank && header.test(next)))) return true;
    const isAlone = /^From (?:- ?)?[\r\n]*$/.test(head);
    if (
      bare &&
      isUsual &&
      (this.open === null || (isAlone ? isAfterBlank || hasTwo : isAfterBlank && hasTwo))
    )
      return true;
    const isDoubt = isDated ? header.test(next) : bare !== null && isUsual;
    if (isDoubt && !this.#isInside()) this.doubts.push(this.#offset);
    return false;
  }

  /** Returns whether the end that a mail gives must be read before a line can be judged. */
  #mustReadOn(): boolean {
    const end = this.open?.end ?? 0;
    return (
      !this.#isEnd &&
      end > this.#offset &&
      end + 3 > this.#readTo &&
      end - this.#offset < MOST_AHEAD
    );
  }

  /** Returns whether the offset is in a mail whose `Content-Length` is right; other ones count for nothing. */
  #isInside(): boolean {
    const end = this.open?.end ?? 0;
    if (end <= this.#offset) return false;
    const isAtEnd = this.#isEnd && end <= this.#readTo && end + 3 > this.#readTo;
    return isAtEnd || [end, end + 1, end + 2].some((offset) => this.#separators.has(offset));
  }

  #begin(head: string): void {
    const number = (this.open?.number ?? 0) + 1;
    this.open = {
      number,
      offset: this.#offset,
      time: deliveryTime(head),
      lines: [],
      length: 0,
      end: 0,
    };
    this.#isHeader = true;
  }

  #add(line: Buffer, head: string): void {
    if (this.open === null) return;
    if (this.#isHeader) this.#addHeader(this.open, head, line.length);
    if (this.open.length >= this.#most) return;
    this.open.lines.push(/^>+From /.test(head) ? line.subarray(1) : line);
    this.open.length += line.length;
  }

  #addHeader(message: MboxMessage, head: string, length: number): void {
    const [, bytes] = /^content-length:[ \t]{0,20}(\d{1,15})[ \t\r\n]*$/i.exec(head) ?? [];
    // Counted from the end of the header, which is not known yet.
    if (bytes !== undefined) message.end = -Number(bytes);
    if (head !== "\n" && head !== "\r\n") return;
    this.#isHeader = false;
    message.end = message.end === 0 ? 0 : this.#offset + length - message.end;
  }
}

function isSeparatorLine(head: string): boolean {
  return head.startsWith("From ") && (datedSeparator.test(head) || bareSeparator.test(head));
}

/** Returns the start of a line as text if it may be a separator. */
function headOf(line: Buffer, isNeeded = false): string {
  const [first] = line;
  const canMatter = first === LETTER_F || first === ARROW || first === NEWLINE || first === RETURN;
  return isNeeded || canMatter ? line.toString("latin1", 0, HEAD_BYTES) : "";
}
