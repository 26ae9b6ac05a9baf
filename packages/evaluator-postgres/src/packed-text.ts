/** A text that others of its kind are kept as the difference to, cut into its words. */
export type Sample = readonly string[];

const CHANGED = "~";
const SAME_AS = "=";
const words = /"(?:[^"\\]|\\.)*"?|[\w.+-]+|[^\w".+-]+/g;

/** Returns a text as a sample for others. */
export function toSample(text: string): Sample {
  return text.match(words) ?? [];
}

/**
 * Returns the difference of a text to a sample, or null where it is of another shape or would be no
 * shorter. An answer of 1.7 kB becomes 0.2 kB: names, punctuation and most values are the sample's.
 */
export function pack(text: string, sample: Sample): string | null {
  const own = toSample(text);
  if (own.length !== sample.length || text.includes("\n")) return null;
  const lines: string[] = [];
  const seen = new Map<string, number>();
  let last = 0;
  for (const [index, word] of own.entries()) {
    const known = sample[index] ?? "";
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
export function unpack(packed: string, sample: Sample): string | null {
  const own = [...sample];
  let index = 0;
  for (const line of packed === "" ? [] : packed.split("\n")) {
    const [, place = "", kind, rest = ""] = lineForm.exec(line) ?? [];
    index += Number.parseInt(place, 36);
    const word = kind === SAME_AS ? own[Number.parseInt(rest, 36)] : changed(rest, sample[index]);
    if (word === undefined) return null;
    own[index] = word;
  }
  return own.join("");
}

const lineForm = /^([\da-z]+)([~=])(.*)$/s;

function changed(change: string, known: string | undefined): string | undefined {
  const space = change.indexOf(" ");
  const shared = Number.parseInt(change.slice(0, space), 36);
  return known === undefined ? undefined : known.slice(0, shared) + change.slice(space + 1);
}
