import { CsvSplitter } from "./csv-splitter.ts";
import { CalibrationInputError, type InputRecord } from "./input-record.ts";

/** Takes a text in pieces of any size, and returns the records that are complete. */
export interface RecordSplitter {
  push(text: string): InputRecord[];
  /** Returns the rest. @throws CalibrationInputError if the last record is cut. */
  end(): InputRecord[];
}

/** Returns a splitter for the format that the first characters show: a JSON array, lines of JSON, or CSV. */
export function recordSplitter(file: string, { csv = false } = {}): RecordSplitter {
  let splitter: RecordSplitter | null = null;
  let start = "";
  return {
    push(text) {
      if (splitter !== null) return splitter.push(text);
      start += text;
      if (start.trim() === "" && start.length < 4096) return [];
      start = start.replace(/^\uFEFF/, "");
      const [first] = start.trimStart();
      if (first === "[") splitter = arraySplitter(file);
      else if (csv && first !== undefined && first !== "{") splitter = new CsvSplitter(file);
      else splitter = lineSplitter(file);
      return splitter.push(start);
    },
    end: () => splitter?.end() ?? [],
  };
}

/** Splits lines of one JSON value each. */
function lineSplitter(file: string): RecordSplitter {
  let [rest, line] = ["", 0];
  const read = (lines: string) =>
    lines.split("\n").flatMap((text): InputRecord[] => {
      line += 1;
      return text.trim() === "" ? [] : [{ line, value: parseJson(text, file, line) }];
    });
  return {
    push(text) {
      rest += text;
      // A long line comes in many pieces: they are searched once, when it ends.
      if (!text.includes("\n")) return [];
      const end = rest.lastIndexOf("\n");
      const lines = rest.slice(0, end);
      rest = rest.slice(end + 1);
      return read(lines);
    },
    end: () => read(rest),
  };
}

const [QUOTE, BACKSLASH, NEWLINE, COMMA] = [34, 92, 10, 44];
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);

/** Splits the items of one JSON array, without ever holding all of it. */
function arraySplitter(file: string): RecordSplitter {
  let [rest, line, itemLine, depth] = ["", 1, 1, 0];
  let [isInString, isEscaped, isDone] = [false, false, false];
  const refuse = (problem: string): never => {
    throw new CalibrationInputError({ file, line }, problem);
  };
  const refuseMore = () => refuse("something follows the end of the JSON array; a file holds one");
  return {
    push(text) {
      const records: InputRecord[] = [];
      let from = 0;
      for (let i = 0; i < text.length; i += 1) {
        const code = text.charCodeAt(i);
        if (code === NEWLINE) line += 1;
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (code === BACKSLASH) isEscaped = true;
          else if (code === QUOTE) isInString = false;
          continue;
        }
        if (code === QUOTE) isInString = true;
        else if (OPENING.has(code)) {
          depth += 1;
          if (depth === 1) from = i + 1;
          if (depth === 2) itemLine = line;
        } else if (CLOSING.has(code)) depth -= 1;
        const isEnd = depth === 0 && CLOSING.has(code);
        if (!isEnd && !(code === COMMA && depth === 1)) continue;
        if (isDone) refuseMore();
        const item = rest + text.slice(from, i);
        rest = "";
        from = i + 1;
        isDone = isEnd;
        if (isEnd && item.trim() === "") continue;
        records.push({ line: itemLine, value: parseJson(item, file, itemLine) });
      }
      if (!isDone || text.slice(from).trim() !== "") rest += text.slice(from);
      return records;
    },
    end() {
      if (!isDone) refuse("the JSON array has no end; the file may be cut short");
      return rest.trim() === "" ? [] : refuseMore();
    },
  };
}

function parseJson(text: string, file: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text itself may be somebody's mail, so it is not quoted.
    const problem = "is not JSON; each record is one JSON object";
    throw new CalibrationInputError({ file, line }, problem);
  }
}
