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

  constructor(sampleText: string) {
    this.text = sampleText;
    this.#words = toWords(sampleText);
    let wordEnd = 0;
    this.#starts = this.#words.map(({ length }) => (wordEnd += length) - length);
  }

  /**
   * Returns the difference of a text to this one, or null if its shape differs or it would not be shorter.
   * An answer of 1.7 kB becomes 0.17 kB, since the sample has its names, punctuation and most values.
   */
  pack(plainText: string): string | null {
    const ownWords = toWords(plainText);
    if (ownWords.length !== this.#words.length || plainText.includes("\n")) return null;
    const changeLines: string[] = [];
    const firstIndexes = new Map<string, number>();
    let [lastIndex, lineBefore] = [0, ""];
    for (const [wordIndex, word] of ownWords.entries()) {
      const sampleWord = this.#words[wordIndex] ?? "";
      if (word === sampleWord) continue;
      if (wordIndex - lastIndex > LARGEST_DISTANCE) return null;
      const distance = distanceText(wordIndex - lastIndex);
      lastIndex = wordIndex;
      const same = firstIndexes.get(word);
      if (same === undefined) firstIndexes.set(word, wordIndex);
      const changeLine =
        distance + (same === undefined ? toChange(word, sampleWord) : SAME_AS + same.toString(36));
      changeLines.push(changeLine === lineBefore ? AS_BEFORE : changeLine);
      lineBefore = changeLine;
    }
    const packedBytes = changeLines.join("\n");
    return packedBytes.length < plainText.length ? packedBytes : null;
  }

  /** Returns the text of a difference to this one, or null if it is damaged. */
  unpack(packedBytes: string): string | null {
    const { text } = this;
    if (packedBytes === "") return text;
    const changedIndexes: number[] = [];
    const changedWords: string[] = [];
    let [wholeText, wordIndex, copiedEnd, lineBefore] = ["", 0, 0, ""];
    for (const packedLine of packedBytes.split("\n")) {
      const line = packedLine === AS_BEFORE ? lineBefore : packedLine;
      lineBefore = line;
      const change = line.startsWith(LONG_DISTANCE) ? LONG_DISTANCE_LENGTH : 1;
      wordIndex += Number.parseInt(change === 1 ? line.charAt(0) : line.slice(1, change), 36);
      const [wordStart, knownText] = [this.#starts[wordIndex], this.#words[wordIndex]];
      if (wordStart === undefined || knownText === undefined) return null;
      const changedWord = line.startsWith(SAME_AS, change)
        ? changedWords[changedIndexes.indexOf(Number.parseInt(line.slice(change + 1), 36))]
        : changed(line, change, knownText);
      if (changedWord === undefined) return null;
      changedIndexes.push(wordIndex);
      changedWords.push(changedWord);
      wholeText += text.slice(copiedEnd, wordStart) + changedWord;
      copiedEnd = wordStart + knownText.length;
    }
    return wholeText + text.slice(copiedEnd);
  }
}

/** Returns the JSON of a state or note, which earlier versions packed, or null if it is damaged. */
export function unpackJson(packedText: string, sample: Sample | undefined): string | null {
  if (!packedText.startsWith(PACKED)) return packedText;
  return sample === undefined ? null : sample.unpack(packedText.slice(PACKED.length));
}

function toWords(splitText: string): readonly string[] {
  return splitText.match(wordForm) ?? [];
}

function distanceText(wordDistance: number): string {
  const distanceDigits = wordDistance.toString(36);
  return wordDistance <= LARGEST_DIGIT
    ? distanceDigits
    : LONG_DISTANCE + distanceDigits.padStart(LONG_DISTANCE_LENGTH - 1, "0");
}

/** Returns the number of characters shared with the sample, and the others. */
function toChange(ownWord: string, knownText: string): string {
  let sharedValue = 0;
  const most = Math.min(LARGEST_DIGIT, ownWord.length);
  while (sharedValue < most && ownWord[sharedValue] === knownText[sharedValue]) sharedValue += 1;
  return sharedValue.toString(36) + ownWord.slice(sharedValue);
}

function changed(changeLine: string, changeStart: number, knownText: string): string | undefined {
  const sharedLength = Number.parseInt(changeLine.charAt(changeStart), 36);
  return Number.isNaN(sharedLength)
    ? undefined
    : knownText.slice(0, sharedLength) + changeLine.slice(changeStart + 1);
}
