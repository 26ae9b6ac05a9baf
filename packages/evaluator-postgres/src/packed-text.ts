/** A text that others of its kind are kept as the difference to. */
export interface Sample {
  readonly text: string;
  readonly words: readonly string[];
  /** Where each word begins in the text. */
  readonly starts: readonly number[];
}

const CHANGED = "~";
const SAME_AS = "=";
const wordForm = /"(?:[^"\\]|\\.)*"?|[\w.+-]+|[^\w".+-]+/g;

/** Returns a text as a sample for others. */
export function toSample(text: string): Sample {
  const words = toWords(text);
  let end = 0;
  const starts = words.map(({ length }) => (end += length) - length);
  return { text, words, starts };
}

function toWords(text: string): readonly string[] {
  return text.match(wordForm) ?? [];
}

/**
 * Returns the difference of a text to a sample, or null where it is of another shape or would be no
 * shorter. An answer of 1.7 kB becomes 0.2 kB: names, punctuation and most values are the sample's.
 */
export function pack(text: string, sample: Sample): string | null {
  const own = toWords(text);
  if (own.length !== sample.words.length || text.includes("\n")) return null;
  const lines: string[] = [];
  const seen = new Map<string, number>();
  let last = 0;
  for (const [index, word] of own.entries()) {
    const known = sample.words[index] ?? "";
    if (word === known) continue;
    const place = (index - last).toString(36);
    last = index;
    const same = seen.get(word);
    if (same === undefined) seen.set(word, index);
    lines.push(
      same === undefined
        ? `${place}${CHANGED}${changeOf(word, known)}`
        : `${place}${SAME_AS}${same.toString(36)}`,
    );
  }
  const packed = lines.join("\n");
  return packed.length < text.length ? packed : null;
}

/** How many characters are the sample's, and those that follow. */
function changeOf(word: string, known: string): string {
  let shared = 0;
  while (shared < word.length && word[shared] === known[shared]) shared += 1;
  return `${shared.toString(36)} ${word.slice(shared)}`;
}

/** Returns the text of a difference to a sample, or null where that was damaged. */
export function unpack(packed: string, { text, words, starts }: Sample): string | null {
  if (packed === "") return text;
  const own = new Map<number, string>();
  let [whole, index, end] = ["", 0, 0];
  for (const line of packed.split("\n")) {
    const [, place = "", kind, rest = ""] = lineForm.exec(line) ?? [];
    index += Number.parseInt(place, 36);
    const [start, known] = [starts[index], words[index]];
    if (start === undefined || known === undefined) return null;
    const word = kind === SAME_AS ? own.get(Number.parseInt(rest, 36)) : changed(rest, known);
    if (word === undefined) return null;
    own.set(index, word);
    whole += text.slice(end, start) + word;
    end = start + known.length;
  }
  return whole + text.slice(end);
}

const lineForm = /^([\da-z]+)([~=])(.*)$/s;

function changed(change: string, known: string): string {
  const space = change.indexOf(" ");
  return known.slice(0, Number.parseInt(change.slice(0, space), 36)) + change.slice(space + 1);
}
