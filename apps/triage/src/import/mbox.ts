import { withRest } from "evaluator-kit";
import type { FoundMail, NotRead, SourceFile } from "./found-mail.ts";
import { parseTime } from "./mail-dates.ts";
import { headerPattern } from "./message-parts.ts";
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
  sourceFile: SourceFile,
  contentChunks: AsyncIterable<Buffer>,
  { at, most }: MboxPart,
): AsyncGenerator<FoundMail | NotRead> {
  const splitter = new MboxSplitter(most);
  let lastTime: string | null = null;
  const toFound = (
    { messageNumber, byteOffset, deliveredAt, bytePieces }: MboxMessage,
    nextTime: string | null,
  ): FoundMail => {
    const mailBytes = unquoted(bytePieces);
    const isDelivery = ![lastTime, nextTime].some((other) => isSameMoment(deliveredAt, other));
    lastTime = deliveredAt;
    return {
      name: `${sourceFile.prefix}message ${messageNumber}`,
      source: { file: sourceFile.name, offset: at + byteOffset },
      arrived: deliveredAt?.slice(0, 10) ?? fileDay(sourceFile),
      deliveredAt: isDelivery ? deliveredAt : null,
      mailBytes,
      read: async () => ({
        ...(await parseMessage(mailBytes)),
        goneReason: goneReasonIn(mailBytes),
      }),
    };
  };
  for await (const contentChunk of withEnd(contentChunks)) {
    for (const message of splitter.splitChunk(contentChunk))
      yield toFound(message, splitter.openMessage?.deliveredAt ?? null);
  }
  if (splitter.openMessage !== null) yield toFound(splitter.openMessage, null);
  if (splitter.doubtOffsets.length > 0)
    yield {
      name: sourceFile.name,
      reason: toDoubt(splitter.doubtOffsets, at),
      mayBeMail: true,
    };
}

async function* withEnd(contentChunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  yield* contentChunks;
  yield null;
}

function toDoubt(doubtOffsets: readonly number[], contentStart: number): string {
  const count = `${doubtOffsets.length} ${doubtOffsets.length === 1 ? "line looks like a separator and was" : "lines look like separators and were"}`;
  return `${count} not taken: at byte ${withRest(
    doubtOffsets.map((doubtOffset) => String(contentStart + doubtOffset)),
    5,
  ).join(", ")}`;
}

/** Programs that convert mails write the time of this for each of them. */
function isSameMoment(firstTime: string | null, secondTime: string | null): boolean {
  if (firstTime === null || secondTime === null) return false;
  return Math.abs(Date.parse(firstTime) - Date.parse(secondTime)) <= 2000;
}

/** Returns the time of a separator; null for the constants of git, public-inbox, mairix, Claws and movemail. */
function deliveryTime(separatorLine: string): string | null {
  const time = parseTime(datedSeparator.exec(separatorLine)?.[1] ?? "");
  return time === null || /^(?:19[67]\d|2001-09-17T00:00:00)/.test(time) ? null : time;
}

/** Returns how the programs of an mbox marked a mail that is no longer in it; null for others. */
function goneReasonIn(mailBytes: Buffer): "deleted" | "of the folder itself" | null {
  const [headerText = ""] = mailBytes.toString("latin1", 0, 64 * 1024).split(/\r?\n\r?\n/, 1);
  if (isFolderData(headerText)) return "of the folder itself";
  const [, status = "0"] = /^x-mozilla-status:[ \t]{0,20}([\da-f]{1,8})/im.exec(headerText) ?? [];
  const isDeleted =
    (Number.parseInt(status, 16) & 8) !== 0 ||
    /^x-status:[ \t]{0,20}[A-CE-Z]{0,20}D/im.test(headerText);
  return isDeleted ? "deleted" : null;
}

/** Returns whether a header is that of the mail in which mail servers keep the data of a folder. */
export function isFolderData(headerText: string): boolean {
  return (
    /^subject:.{0,40}FOLDER INTERNAL DATA/im.test(headerText) &&
    /^from:.{0,100}(?:MAILER-DAEMON|Mail System Internal Data)/im.test(headerText)
  );
}

/** Returns whether text begins as an mbox does. */
export function isMboxText(startText: string): boolean {
  const [firstLine = "", secondLine = ""] = startText.split("\n", 2);
  return (
    datedSeparator.test(firstLine) ||
    (bareSeparator.test(firstLine) && headerPattern.test(secondLine))
  );
}

interface MboxMessage {
  /** Its number in the file, from 1. */
  readonly messageNumber: number;
  /** The offset of its separator, in bytes. */
  readonly byteOffset: number;
  /** The offset of its first header. */
  readonly contentStart: number;
  /** The time in its separator, in ISO 8601; null if it is none of a delivery. */
  readonly deliveredAt: string | null;
  /** Its start, about as much as is kept. */
  readonly bytePieces: Buffer[];
  /** Their length, in bytes. */
  byteLength: number;
  /** The end that its `Content-Length` gives, as an offset; 0 without one, undefined until it is needed. */
  contentEnd: number | undefined;
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
  #window: Buffer = Buffer.alloc(0);
  #windowOffset = 0;
  /** The index at which the search goes on. */
  #searchStart = 0;
  /** Further bytes, up to the offset without which the next line cannot be judged. */
  #waiting: Buffer[] = [];
  #readLength = 0;
  #neededCount = 0;
  #isAtEnd = false;
  /** The message whose end was not seen. */
  openMessage: MboxMessage | null = null;
  /** The offsets of lines that look like separators and are none. */
  readonly doubtOffsets: number[] = [];
  readonly #mostBytes: number;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Takes more bytes, null at the end; returns the messages that end in the bytes read. */
  *splitChunk(nextChunk: Buffer | null): Generator<MboxMessage> {
    if (nextChunk !== null) this.#waiting.push(nextChunk);
    this.#readLength += nextChunk?.length ?? 0;
    this.#isAtEnd = nextChunk === null;
    if (this.#readLength < this.#neededCount && !this.#isAtEnd) return;
    this.#window = Buffer.concat([this.#window, ...this.#waiting]);
    this.#waiting = [];
    for (let lineStart = this.#nextLine(); lineStart !== -1; lineStart = this.#nextLine()) {
      if (this.#mustReadOn(lineStart, lineStart)) break;
      const lineKind = this.#toLineKind(lineStart);
      if (lineKind !== "text" && this.#mustReadOn(lineStart, this.#contentEnd(lineStart))) break;
      this.#searchStart = lineStart + 1;
      if (lineKind === "text" || this.#isInside(lineStart)) continue;
      if (lineKind === "doubt") this.doubtOffsets.push(this.#windowOffset + lineStart);
      else yield* this.#beginMessage(lineStart);
    }
    this.#keepBytes(
      this.#isAtEnd ? this.#window.length : Math.max(0, this.#searchStart - BEFORE_BYTES),
    );
  }

  /** Returns the index of the next line that begins as a separator; -1 if none is read. */
  #nextLine(): number {
    const isStart = this.#windowOffset === 0 && this.#searchStart === 0;
    if (isStart && this.#window.toString("latin1", 0, 5) === "From ") return 0;
    const lineStart = this.#window.indexOf("\nFrom ", Math.max(0, this.#searchStart - 1)) + 1;
    if (lineStart > 0) return lineStart;
    this.#searchStart = Math.max(this.#searchStart, this.#window.length - BEFORE_BYTES);
    return -1;
  }

  /** Returns whether the lines at an index, and behind it, must be read before a line can be judged. */
  #mustReadOn(lineStart: number, lineIndex: number): boolean {
    const windowEnd = lineIndex + WINDOW_BYTES;
    if (this.#isAtEnd || windowEnd <= this.#window.length || lineIndex - lineStart > MOST_AHEAD)
      return false;
    this.#neededCount = this.#windowOffset + windowEnd;
    return true;
  }

  #toLineKind(lineStart: number): "separator" | "doubt" | "text" {
    const [separatorLine = "", nextLine = "", laterLine = ""] = this.#linesAt(lineStart);
    const isDated = datedSeparator.test(separatorLine);
    if (!isDated && !bareSeparator.test(separatorLine)) return "text";
    const isUsual = usualHeader.test(nextLine);
    const isAfterBlank =
      this.openMessage === null ||
      /\n\r?\n$/.test(
        this.#window.toString("latin1", Math.max(0, lineStart - BEFORE_BYTES), lineStart),
      );
    const hasTwoLines = headerPattern.test(laterLine) || /^[ \t]/.test(laterLine);
    const isQuoted =
      nextLine.startsWith(">From ") &&
      isSeparatorLine(nextLine.slice(1)) &&
      headerPattern.test(laterLine);
    if (isDated && (isQuoted || isUsual || (isAfterBlank && headerPattern.test(nextLine))))
      return "separator";
    const isAlone = /^From (?:- ?)?[\r\n]*$/.test(separatorLine);
    const isBareSeparator =
      this.openMessage === null ||
      (isAlone ? isAfterBlank || hasTwoLines : isAfterBlank && hasTwoLines);
    if (!isDated && isUsual && isBareSeparator) return "separator";
    return isUsual || (isDated && headerPattern.test(nextLine)) ? "doubt" : "text";
  }

  // The start of a line, and of the two below it.
  #linesAt(lineStart: number): string[] {
    return this.#window.toString("latin1", lineStart, lineStart + WINDOW_BYTES).split(/(?<=\n)/, 3);
  }

  /** Returns the index at which the open message ends by its `Content-Length`; below 0 without one. */
  #contentEnd(lineStart: number): number {
    const { openMessage } = this;
    if (openMessage !== null)
      openMessage.contentEnd ??= contentEnd(openMessage, this.#window.subarray(0, lineStart));
    return (openMessage?.contentEnd ?? 0) - this.#windowOffset;
  }

  /** Returns whether a line is in a mail whose `Content-Length` is right; other ones count for nothing. */
  #isInside(lineStart: number): boolean {
    const messageEnd = this.#contentEnd(lineStart);
    const remainingCount = this.#window.length - messageEnd;
    if (messageEnd <= lineStart || remainingCount < 0) return false;
    if (this.#isAtEnd && remainingCount < 3) return true;
    return [messageEnd, messageEnd + 1, messageEnd + 2].some(
      (candidate) =>
        this.#window[candidate - 1] === NEWLINE &&
        isSeparatorLine(this.#linesAt(candidate)[0] ?? ""),
    );
  }

  *#beginMessage(lineStart: number): Generator<MboxMessage> {
    const endedMboxMessage = this.openMessage;
    this.#keepBytes(lineStart);
    const [separatorLine = ""] = this.#linesAt(0);
    this.openMessage = {
      messageNumber: (endedMboxMessage?.messageNumber ?? 0) + 1,
      byteOffset: this.#windowOffset,
      contentStart: this.#windowOffset + separatorLine.length,
      deliveredAt: deliveryTime(separatorLine),
      bytePieces: [],
      byteLength: 0,
      contentEnd: undefined,
    };
    this.#dropBytes(separatorLine.length);
    if (endedMboxMessage !== null) yield endedMboxMessage;
  }

  /** Adds the first bytes to the open message. */
  #keepBytes(keptLength: number): void {
    if (this.openMessage !== null && this.openMessage.byteLength < this.#mostBytes) {
      const piece = this.#window.subarray(
        0,
        Math.min(keptLength, this.#mostBytes - this.openMessage.byteLength),
      );
      this.openMessage.bytePieces.push(piece);
      this.openMessage.byteLength += piece.length;
    }
    this.#dropBytes(keptLength);
  }

  #dropBytes(droppedLength: number): void {
    this.#window = this.#window.subarray(droppedLength);
    this.#windowOffset += droppedLength;
    this.#searchStart = Math.max(0, this.#searchStart - droppedLength);
  }
}

function isSeparatorLine(lineText: string): boolean {
  return datedSeparator.test(lineText) || bareSeparator.test(lineText);
}

/** Returns the end that a message names, as an offset in its file; 0 if it names none. */
function contentEnd({ contentStart, bytePieces }: MboxMessage, lastBytes: Buffer): number {
  const [headerText = "", blankLines = ""] = Buffer.concat([...bytePieces, lastBytes])
    .toString("latin1", 0, HEAD_BYTES)
    .split(/(\r?\n\r?\n)/, 2);
  const [, statedLength] =
    /^content-length:[ \t]{0,20}(\d{1,15})[ \t\r]*$/im.exec(headerText) ?? [];
  return statedLength === undefined
    ? 0
    : contentStart + headerText.length + blankLines.length + Number(statedLength);
}

/** Returns a mail with its `>From ` lines unquoted. */
function unquoted(bytePieces: readonly Buffer[]): Buffer {
  const [mailBytes = Buffer.of()] =
    bytePieces.length > 1 ? [Buffer.concat(bytePieces)] : bytePieces;
  if (!mailBytes.includes(">From ")) return mailBytes;
  const unquotedText = mailBytes.toString("latin1").replace(/(^|\n)>(?=>{0,100}From )/g, "$1");
  return Buffer.from(unquotedText, "latin1");
}
