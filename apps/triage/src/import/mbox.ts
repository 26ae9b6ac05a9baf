import { withRest } from "evaluator-kit";
import type { FoundMail, NotRead, SourceFile } from "./found-mail.ts";
import { parseTime } from "./mail-dates.ts";
import { header } from "./message-parts.ts";
import { fileDay, parseMessage } from "./parse-message.ts";

const NEWLINE = 10;
/** How far is read ahead for the end that a `Content-Length` gives; a longer mail is split by its lines. */
const MOST_AHEAD = 16 * 1024 * 1024;
/** More than a separator and two lines of a header take. */
const WINDOW_BYTES = 4096;
/** More than an empty line and the start of a separator take. */
const BEFORE_BYTES = 8;
const HEAD_BYTES = 64 * 1024;

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
    { number, offset, time, pieces }: MboxMessage,
    next: string | null,
  ): FoundMail => {
    const bytes = unquoted(pieces);
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
  for await (const chunk of withEnd(chunks)) {
    for (const message of splitter.split(chunk))
      yield toFound(message, splitter.open?.time ?? null);
  }
  if (splitter.open !== null) yield toFound(splitter.open, null);
  if (splitter.doubts.length > 0)
    yield { name: file.name, reason: toDoubt(splitter.doubts, at), isMail: true };
}

async function* withEnd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  yield* chunks;
  yield null;
}

function toDoubt(doubts: readonly number[], at: number): string {
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
  /** The offset of its first header. */
  readonly start: number;
  /** The time in its separator, in ISO 8601; null if it is none of a delivery. */
  readonly time: string | null;
  /** Its start, about as much as is kept. */
  readonly pieces: Buffer[];
  /** Their length, in bytes. */
  length: number;
  /** The end that its `Content-Length` gives, as an offset; 0 without one, undefined until it is needed. */
  end: number | undefined;
}

/**
 * Splits an mbox into messages, and holds the start of one.
 *
 * A line of a mail may look like a separator. So one with a date needs a header below it, or a usual
 * header if no empty line is before it, as in some exports. One without a date needs a usual header
 * below it, and an empty line before it or a second header. Programs that quote no line write a
 * `Content-Length`: if it ends at a separator or the file's end, no line before separates.
 */
class MboxSplitter {
  /** Bytes that are not yet searched, some before them, and the offset of the first. */
  #bytes: Buffer = Buffer.alloc(0);
  #offset = 0;
  /** The index at which the search goes on. */
  #from = 0;
  /** Further bytes, up to the offset without which the next line cannot be judged. */
  #waiting: Buffer[] = [];
  #readTo = 0;
  #neededCount = 0;
  #isEnd = false;
  /** The message whose end was not seen. */
  open: MboxMessage | null = null;
  /** The offsets of lines that look like separators and are none. */
  readonly doubts: number[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes more bytes, null at the end; returns the messages that end in the bytes read. */
  *split(chunk: Buffer | null): Generator<MboxMessage> {
    if (chunk !== null) this.#waiting.push(chunk);
    this.#readTo += chunk?.length ?? 0;
    this.#isEnd = chunk === null;
    if (this.#readTo < this.#neededCount && !this.#isEnd) return;
    this.#bytes = Buffer.concat([this.#bytes, ...this.#waiting]);
    this.#waiting = [];
    for (let at = this.#nextLine(); at !== -1; at = this.#nextLine()) {
      if (this.#mustReadOn(at, at)) break;
      const kind = this.#toKind(at);
      if (kind !== "text" && this.#mustReadOn(at, this.#contentEnd(at))) break;
      this.#from = at + 1;
      if (kind === "text" || this.#isInside(at)) continue;
      if (kind === "doubt") this.doubts.push(this.#offset + at);
      else yield* this.#begin(at);
    }
    this.#keep(this.#isEnd ? this.#bytes.length : Math.max(0, this.#from - BEFORE_BYTES));
  }

  /** Returns the index of the next line that begins as a separator; -1 if none is read. */
  #nextLine(): number {
    const isStart = this.#offset === 0 && this.#from === 0;
    if (isStart && this.#bytes.toString("latin1", 0, 5) === "From ") return 0;
    const at = this.#bytes.indexOf("\nFrom ", Math.max(0, this.#from - 1)) + 1;
    if (at > 0) return at;
    this.#from = Math.max(this.#from, this.#bytes.length - BEFORE_BYTES);
    return -1;
  }

  /** Returns whether the lines at an index, and behind it, must be read before a line can be judged. */
  #mustReadOn(line: number, index: number): boolean {
    const end = index + WINDOW_BYTES;
    if (this.#isEnd || end <= this.#bytes.length || index - line > MOST_AHEAD) return false;
    this.#neededCount = this.#offset + end;
    return true;
  }

  #toKind(at: number): "separator" | "doubt" | "text" {
    const [head = "", next = "", afterNext = ""] = this.#linesAt(at);
    const isDated = datedSeparator.test(head);
    if (!isDated && !bareSeparator.test(head)) return "text";
    const isUsual = usualHeader.test(next);
    const isAfterBlank =
      this.open === null ||
      /\n\r?\n$/.test(this.#bytes.toString("latin1", Math.max(0, at - BEFORE_BYTES), at));
    const hasTwo = header.test(afterNext) || /^[ \t]/.test(afterNext);
    const isQuoted =
      next.startsWith(">From ") && isSeparatorLine(next.slice(1)) && header.test(afterNext);
    if (isDated && (isQuoted || isUsual || (isAfterBlank && header.test(next)))) return "separator";
    const isAlone = /^From (?:- ?)?[\r\n]*$/.test(head);
    const isBare =
      this.open === null || (isAlone ? isAfterBlank || hasTwo : isAfterBlank && hasTwo);
    if (!isDated && isUsual && isBare) return "separator";
    return isUsual || (isDated && header.test(next)) ? "doubt" : "text";
  }

  // The start of a line, and of the two below it.
  #linesAt(at: number): string[] {
    return this.#bytes.toString("latin1", at, at + WINDOW_BYTES).split(/(?<=\n)/, 3);
  }

  /** Returns the index at which the open message ends by its `Content-Length`; below 0 without one. */
  #contentEnd(line: number): number {
    const { open } = this;
    if (open !== null) open.end ??= contentEnd(open, this.#bytes.subarray(0, line));
    return (open?.end ?? 0) - this.#offset;
  }

  /** Returns whether a line is in a mail whose `Content-Length` is right; other ones count for nothing. */
  #isInside(line: number): boolean {
    const end = this.#contentEnd(line);
    const remainingCount = this.#bytes.length - end;
    if (end <= line || remainingCount < 0) return false;
    if (this.#isEnd && remainingCount < 3) return true;
    return [end, end + 1, end + 2].some(
      (at) => this.#bytes[at - 1] === NEWLINE && isSeparatorLine(this.#linesAt(at)[0] ?? ""),
    );
  }

  *#begin(at: number): Generator<MboxMessage> {
    const endedMboxMessage = this.open;
    this.#keep(at);
    const [head = ""] = this.#linesAt(0);
    this.open = {
      number: (endedMboxMessage?.number ?? 0) + 1,
      offset: this.#offset,
      start: this.#offset + head.length,
      time: deliveryTime(head),
      pieces: [],
      length: 0,
      end: undefined,
    };
    this.#drop(head.length);
    if (endedMboxMessage !== null) yield endedMboxMessage;
  }

  /** Adds the first bytes to the open message. */
  #keep(length: number): void {
    if (this.open !== null && this.open.length < this.#most) {
      const piece = this.#bytes.subarray(0, Math.min(length, this.#most - this.open.length));
      this.open.pieces.push(piece);
      this.open.length += piece.length;
    }
    this.#drop(length);
  }

  #drop(length: number): void {
    this.#bytes = this.#bytes.subarray(length);
    this.#offset += length;
    this.#from = Math.max(0, this.#from - length);
  }
}

function isSeparatorLine(head: string): boolean {
  return datedSeparator.test(head) || bareSeparator.test(head);
}

/** Returns the end that a message names, as an offset in its file; 0 if it names none. */
function contentEnd({ start, pieces }: MboxMessage, last: Buffer): number {
  const [head = "", blank = ""] = Buffer.concat([...pieces, last])
    .toString("latin1", 0, HEAD_BYTES)
    .split(/(\r?\n\r?\n)/, 2);
  const [, length] = /^content-length:[ \t]{0,20}(\d{1,15})[ \t\r]*$/im.exec(head) ?? [];
  return length === undefined ? 0 : start + head.length + blank.length + Number(length);
}

/** Returns a mail with its `>From ` lines unquoted. */
function unquoted(pieces: readonly Buffer[]): Buffer {
  const [bytes = Buffer.of()] = pieces.length > 1 ? [Buffer.concat(pieces)] : pieces;
  if (!bytes.includes(">From ")) return bytes;
  const text = bytes.toString("latin1").replace(/(^|\n)>(?=>{0,100}From )/g, "$1");
  return Buffer.from(text, "latin1");
}
