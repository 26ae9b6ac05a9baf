import { MESSAGE_BYTES } from "../parse-message.ts";

const NEWLINE = 10;
const LETTER_F = 70;
const ARROW = 62;
const LINE_BYTES = 64 * 1024;
// "From ada@example.com Mon Nov  2 09:00:00 2026", and Thunderbird's bare "From ".
const separator = /^From (?:\S+ +\w{3},? .*\d:\d\d|- \w{3} .*\d:\d\d|\s*$)/;

/** One message of an mbox file. */
export interface MboxMessage {
  /** Its number in the file, from 1. */
  readonly number: number;
  /** When it was delivered, by its separating line, or null. */
  readonly deliveredAt: Date | null;
  /** Its start, some {@link MESSAGE_BYTES}. */
  readonly bytes: Uint8Array;
  /** Whether there is more of it. */
  readonly isCut: boolean;
}

interface OpenMessage {
  readonly deliveredAt: Date | null;
  readonly lines: Uint8Array[];
  length: number;
  isCut: boolean;
}

/**
 * Splits an mbox stream into messages; `>From ` lines become what they were. Only the start of one
 * message is held at a time, however long the file and its attachments are.
 */
export async function* splitMbox(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<MboxMessage> {
  let open: OpenMessage | null = null;
  let number = 0;
  let isAfterBlank = true;
  for await (const line of splitLines(chunks)) {
    const head = headOf(line);
    if (isAfterBlank && separator.test(head.trimEnd())) {
      if (open !== null) yield { number, ...closed(open) };
      number += 1;
      open = { deliveredAt: deliveredAt(head), lines: [], length: 0, isCut: false };
    } else if (open !== null) addLine(open, /^>+From /.test(head) ? line.subarray(1) : line);
    isAfterBlank = head === "\n" || head === "\r\n";
  }
  if (open !== null) yield { number, ...closed(open) };
}

function addLine(message: OpenMessage, line: Uint8Array): void {
  message.isCut = message.length >= MESSAGE_BYTES;
  if (message.isCut) return;
  message.lines.push(line);
  message.length += line.length;
}

function closed({ deliveredAt, lines, isCut }: OpenMessage) {
  return { deliveredAt, isCut, bytes: Buffer.concat(lines) };
}

function deliveredAt(line: string): Date | null {
  const date = new Date(line.replace(/^From \S+ */, "").trim());
  return Number.isNaN(date.getTime()) ? null : date;
}

/** The start of a line as text when it can matter here, which for most lines it cannot. */
function headOf(line: Uint8Array): string {
  const [first] = line;
  if (line.length > 2 && first !== LETTER_F && first !== ARROW) return "";
  return Buffer.from(line.subarray(0, 512)).toString("latin1");
}

/** Gives lines with their ends; a line without end comes in pieces. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.subarray(start, end + 1);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length < LINE_BYTES) continue;
    yield rest;
    rest = new Uint8Array();
  }
  if (rest.length > 0) yield rest;
}
