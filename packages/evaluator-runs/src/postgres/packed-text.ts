// A difference has one line for each word that is not the sample's; numbers are in base 36:
//   line     = distance change, or nothing if it repeats the line before
//   distance = how many words further than the line before: one digit, or "_" and three
//   change   = the count of first characters that are the sample's, one digit, and the characters
//              that follow; or "=" and the index of the earlier word that it is the same as
// From {"a":0.12,"b":"old value","c":7} to {"a":0.17,"b":"new value","c":0.17} it is the lines
//   337             3 words on, 3 characters of 0.12 and then 7
//   41new value"    4 words on, 1 character of "old value" and then new value"
//   4=3             4 words on, the same as the word at 3
const SAME_AS = "=";
const AS_BEFORE = "";
const PACKED = "~";
/** The most that one digit holds. */
const LARGEST_DIGIT = 35;
const LONG_DISTANCE = "_";
const LONG_DISTANCE_LENGTH = 4;
const LARGEST_DISTANCE = 36 ** (LONG_DISTANCE_LENGTH - 1) - 1;
const wordForm = /"(?:[^"\\]|\\.)*"?|[\w.+-]+|[^\w".+-]+/g;

/** A text that similar texts are stored as a difference to. */
export class Sample {
  readonly text: string;
  readonly #words: readonly string[];
  /** Where each word begins in the text. */
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.text = text;
    this.#words = toWords(text);
    let end = 0;
    this.#starts = this.#words.map(({ length }) => (end += length) - length);
  }

  /**
   * Returns the difference of a text to this one, or null if its shape differs or it would not be shorter.
   * An answer of 1.7 kB becomes 0.17 kB, since the sample has its names, punctuation and most values.
   */
  pack(text: string): string | null {
    const own = toWords(text);
    if (own.length !== this.#words.length || text.includes("\n")) return null;
    const lines: string[] = [];
    const firstIndexes = new Map<string, number>();
    let [last, before] = [0, ""];
    for (const [index, word] of own.entries()) {
      const sampleWord = this.#words[index] ?? "";
      if (word === sampleWord) continue;
      if (index - last > LARGEST_DISTANCE) return null;
      const distance = distanceText(index - last);
      last = index;
      const same = firstIndexes.get(word);
      if (same === undefined) firstIndexes.set(word, index);
      const line =
        distance + (same === undefined ? toChange(word, sampleWord) : SAME_AS + same.toString(36));
      lines.push(line === before ? AS_BEFORE : line);
      before = line;
    }
    const packedBytes = lines.join("\n");
    return packedBytes.length < text.length ? packedBytes : null;
  }

  /** Returns the text of a difference to this one, or null if it is damaged. */
  unpack(packedBytes: string): string | null {
    const { text } = this;
    if (packedBytes === "") return text;
    const changedAt: number[] = [];
    const own: string[] = [];
    let [whole, index, end, before] = ["", 0, 0, ""];
    for (const packedLine of packedBytes.split("\n")) {
      const line = packedLine === AS_BEFORE ? before : packedLine;
      before = line;
      const change = line.startsWith(LONG_DISTANCE) ? LONG_DISTANCE_LENGTH : 1;
      index += Number.parseInt(change === 1 ? line.charAt(0) : line.slice(1, change), 36);
      const [start, knownText] = [this.#starts[index], this.#words[index]];
      if (start === undefined || knownText === undefined) return null;
      const word = line.startsWith(SAME_AS, change)
        ? own[changedAt.indexOf(Number.parseInt(line.slice(change + 1), 36))]
        : changed(line, change, knownText);
      if (word === undefined) return null;
      changedAt.push(index);
      own.push(word);
      whole += text.slice(end, start) + word;
      end = start + knownText.length;
    }
    return whole + text.slice(end);
  }
}

/** Returns the JSON of a state or note, which earlier versions packed, or null if it is damaged. */
export function unpackJson(packedText: string, sample: Sample | undefined): string | null {
  if (!packedText.startsWith(PACKED)) return packedText;
  return sample === undefined ? null : sample.unpack(packedText.slice(PACKED.length));
}

function toWords(text: string): readonly string[] {
  return text.match(wordForm) ?? [];
}

function distanceText(distance: number): string {
  const digits = distance.toString(36);
  return distance <= LARGEST_DIGIT
    ? digits
    : LONG_DISTANCE + digits.padStart(LONG_DISTANCE_LENGTH - 1, "0");
}

/** Returns the number of characters shared with the sample, and the others. */
function toChange(word: string, knownText: string): string {
  let sharedValue = 0;
  const most = Math.min(LARGEST_DIGIT, word.length);
  while (sharedValue < most && word[sharedValue] === knownText[sharedValue]) sharedValue += 1;
  return sharedValue.toString(36) + word.slice(sharedValue);
}

function changed(line: string, change: number, knownText: string): string | undefined {
  const sharedValue = Number.parseInt(line.charAt(change), 36);
  return Number.isNaN(sharedValue)
    ? undefined
    : knownText.slice(0, sharedValue) + line.slice(change + 1);
}
