// Fitted to six public tokenizers (o200k, cl100k and those of Llama 3, Qwen 3, Gemma 3 and DeepSeek 3) on prose
// of 38 languages, JSON, code, logs, tables and base64: the table of the test.
const LETTERS_PER_TOKEN = 7;
const LETTERS_OF_A_WORD = 10; // longer ones are compounds, keys and base64
const FURTHER_LETTERS_PER_TOKEN = 3;
const TOKENS_PER_ACCENT = 0.45;
const CAPITALS_PER_TOKEN = 4.5;
const DIGITS_PER_TOKEN = 3;
const TOKENS_PER_MARK = 0.5;
const TOKENS_PER_EQUAL_MARK = 0.25;
const MARKS_OF_A_PAIR = 6; // longer runs are patterns, which tokenizers know less
const TOKENS_PER_FURTHER_MARK = 0.6;
// Tokenizers have tokens for rows of equal characters.
const LETTERS_OF_A_ROW = 4;
const LETTERS_PER_LETTER_OF_A_ROW = 1.3; // four letters a token; public tokenizers have eight, and not all are public
const TOKENS_PER_MARK_OF_A_ROW = 1 / 60;
const TOKENS_OF_EQUAL_SYMBOL = 0.1;
const TOKENS_PER_CHANGE_OF_SPACE = 0.25;
const SPACES_PER_TOKEN = 96;
const TABS_PER_TOKEN = 16;
const LINE_BREAKS_PER_TOKEN = 24;

const encoder = new TextEncoder();

/**
 * Returns the most tokens of a text, which is its UTF-8 bytes: the tokenizers of today begin with bytes or fall
 * back to them. Some scripts take all of them in older tokenizers, and English takes a quarter.
 */
export function mostTextTokens(text: string): number {
  return encoder.encode(text).length;
}

// Kinds of characters, which make runs.
const WIDE = 0;
const WORD = 1;
const CAPITALS = 2;
const DIGITS = 3;
const MARKS = 4;
const SPACES = 5;

/**
 * Estimates the tokens of a text in one pass: by its runs of words, capitals, digits, marks and spaces, and by
 * the alphabet of other characters. Within 25 % of public tokenizers' mean for prose, JSON, code and base64.
 */
export function estimateTextTokens(text: string): number {
  const prose = { text, words: 0, english: 0, letters: 0, tokens: 0 };
  let tokens = 0;
  let run = WIDE;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = kinds[code] as number;
    if (kind !== run) {
      // A capital begins the word of the small letters after it.
      const end = run === CAPITALS && kind === WORD ? at - 1 : at;
      if (run === WORD) {
        tokens += end - start <= LETTERS_PER_TOKEN ? 1 : tokensOfWord(text, start, end);
        if (code <= SPACE || code === COMMA) addWord(prose, start, end);
      } else if (run === SPACES && end - start === 1) tokens += tokensOfOneSpace(text, start);
      else if (run !== WIDE && start < end) tokens += tokensOfRun(text, start, end);
      run = kind;
      start = end;
    }
    if (code >= 128) tokens += tokensBeyondAscii(code, text.charCodeAt(at - 1));
    else if (kind === WIDE) tokens += 1;
  }
  if (run === WORD) addWord(prose, start, text.length);
  if (run !== WIDE) tokens += tokensOfRun(text, start, text.length);
  return Math.round(tokens + prose.tokens + foreignTokens(prose));
}

const TAB = 9;
const SPACE = 32;
const COMMA = 44;

/** Words of a text between spaces or commas: others are names and code. */
interface Prose {
  readonly text: string;
  words: number;
  /** English words among the first ones. */
  english: number;
  /** Letters beyond the first ones of each word, without those of its end. */
  letters: number;
  /** Tokens of the parts so far, which have one language each. */
  tokens: number;
}

/** The first words of a part show its language. */
const WORDS_OF_A_PART = 256;
const SHOWN_WORDS = 64;
const FEWEST_WORDS = 6;
const SHARE_OF_ENGLISH = 0.08;
const ENOUGH_ENGLISH = SHOWN_WORDS * SHARE_OF_ENGLISH;
const FIRST_LETTERS = 4;
const LETTERS_PER_FOREIGN_TOKEN = 3.5;

/** Frequent in English, and in few other languages. */
const englishWords = new Set(
  "the and to that with this you your not are from have will if or by it"
    .split(" ")
    .map((word) => packedAt(word, 0, word.length)),
);

/** Packs up to four ASCII characters into a positive number, which costs less than a string of their own. */
function packedAt(text: string, start: number, end: number): number {
  let packedBytes = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    packedBytes = code < 128 ? packedBytes * 128 + code : -1;
  }
  return packedBytes;
}

function addWord(prose: Prose, start: number, end: number): void {
  const { text } = prose;
  if (text.charCodeAt(start - 1) !== SPACE) return;
  const length = end - start;
  const isShown = prose.words < SHOWN_WORDS && prose.english < ENOUGH_ENGLISH;
  if (isShown && length < 5 && englishWords.has(packedAt(text, start, end))) prose.english += 1;
  prose.words += 1;
  if (length > FIRST_LETTERS) prose.letters += Math.min(length, LETTERS_OF_A_WORD) - FIRST_LETTERS;
  if (prose.words < WORDS_OF_A_PART) return;
  prose.tokens += foreignTokens(prose);
  prose.words = 0;
  prose.english = 0;
  prose.letters = 0;
}

/** Tokenizers know English words best. Returns the further tokens of words in other languages. */
function foreignTokens({ words, english, letters }: Prose): number {
  if (words < FEWEST_WORDS) return 0;
  const share = 1 - english / Math.min(words, SHOWN_WORDS) / SHARE_OF_ENGLISH;
  return (Math.max(0, share) * letters) / LETTERS_PER_FOREIGN_TOKEN;
}

function computeKind(code: number): number {
  if (code === SPACE || (code >= 9 && code <= 13)) return SPACES;
  if (code >= 48 && code <= 57) return DIGITS;
  if (code >= 97 && code <= 122) return WORD;
  if (code < SPACE || code === 127) return WIDE;
  return code >= 65 && code <= 90 ? CAPITALS : MARKS;
}

/** The kind of each UTF-16 unit. */
const kinds = new Uint8Array(0x10000);
kinds.set(Array.from({ length: 128 }, (_, code) => computeKind(code)));
kinds.fill(WORD, 0x00c0, 0x0250); // Latin letters with an accent
kinds.fill(WORD, 0x1e00, 0x1f00);

/** The kind of a run is its last character's: a word may begin with a capital. */
function tokensOfRun(text: string, start: number, end: number): number {
  const length = end - start;
  const run = kinds[text.charCodeAt(end - 1)];
  if (run === SPACES && length === 1) return tokensOfOneSpace(text, start);
  if (run === WORD) return tokensOfWord(text, start, end);
  if (run === CAPITALS) return Math.max(1, length / CAPITALS_PER_TOKEN);
  if (run === DIGITS) return Math.ceil(length / DIGITS_PER_TOKEN);
  if (length === 1) return 1;
  return Math.max(1, (run === MARKS ? tokensOfMarks : tokensOfSpaces)(text, start, end));
}

/** A space belongs to the next word, but not to a number; a line break belongs to the mark before it. */
function tokensOfOneSpace(text: string, at: number): number {
  if (text.charCodeAt(at) === SPACE) return kinds[text.charCodeAt(at + 1)] === DIGITS ? 1 : 0;
  return kinds[text.charCodeAt(at - 1)] === MARKS ? 0 : 1;
}

function tokensOfWord(text: string, start: number, end: number): number {
  const length = end - start;
  if (length <= LETTERS_OF_A_WORD) return Math.max(1, length / LETTERS_PER_TOKEN);
  const further = computeLetters(text, start, end) - LETTERS_OF_A_WORD;
  return LETTERS_OF_A_WORD / LETTERS_PER_TOKEN + Math.max(0, further) / FURTHER_LETTERS_PER_TOKEN;
}

/** Counts the letters of a word; those of a row of equal ones by their part of a token. */
function computeLetters(text: string, start: number, end: number): number {
  let [letters, row, before] = [0, 0, text.charCodeAt(start - 1)];
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    row = code === before ? row + 1 : 1;
    letters += row > LETTERS_OF_A_ROW ? 1 / LETTERS_PER_LETTER_OF_A_ROW : 1;
    before = code;
  }
  return letters;
}

function tokensOfMarks(text: string, start: number, end: number): number {
  let [tokens, row, before] = [0, 0, 0];
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    row = code === before ? row + 1 : 1;
    before = code;
    if (row === 1)
      tokens += at - start < MARKS_OF_A_PAIR ? TOKENS_PER_MARK : TOKENS_PER_FURTHER_MARK;
    else tokens += row > LETTERS_OF_A_ROW ? TOKENS_PER_MARK_OF_A_ROW : TOKENS_PER_EQUAL_MARK;
  }
  return tokens;
}

function tokensOfSpaces(text: string, start: number, end: number): number {
  let [tokens, before] = [0, text.charCodeAt(start)];
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== before) tokens += TOKENS_PER_CHANGE_OF_SPACE;
    before = code;
    if (code === SPACE) tokens += 1 / SPACES_PER_TOKEN;
    else tokens += 1 / (code === TAB ? TABS_PER_TOKEN : LINE_BREAKS_PER_TOKEN);
  }
  return tokens;
}

/** The tokens of a UTF-16 unit of each alphabet, by the alphabet's first one. */
const alphabets: readonly (readonly [first: number, tokens: number])[] = [
  [0x0000, 1], // control characters and signs, such as § and °
  [0x0370, 0.66], // Greek
  [0x0400, 0.43], // Cyrillic
  [0x0490, 1.1], // and its letters of fewer languages
  [0x0530, 1.25], // Armenian
  [0x0590, 0.83], // Hebrew
  [0x0600, 0.53], // Arabic
  [0x0670, 0.95], // and its letters of fewer languages
  [0x0700, 1.6], // Syriac, Thaana and others
  [0x0900, 0.74], // Devanagari
  [0x0980, 0.94], // Bengali
  [0x0a00, 1.4], // Gurmukhi, Gujarati and Oriya
  [0x0b80, 0.98], // Tamil
  [0x0c00, 1.28], // Telugu, Kannada and Malayalam
  [0x0d80, 1.55], // Sinhala
  [0x0e00, 0.54], // Thai
  [0x0e80, 1.8], // Lao and Tibetan
  [0x1000, 1.36], // Burmese and Georgian
  [0x1100, 2.3], // Ethiopic and others
  [0x1780, 1.28], // Khmer
  [0x1800, 1.8], // Mongolian and others
  [0x2000, 1], // punctuation
  [0x2190, 1.25], // symbols
  [0x3040, 0.65], // Kana
  [0x3100, 0.85], // Han
  [0xa000, 1.6], // Yi and others
  [0xac00, 0.85], // Hangul
  [0xd800, 1], // half of an emoji, and forms
];

const UNITS_OF_A_BLOCK = 16;
const tokensOfBlock = new Float64Array(0x10000 / UNITS_OF_A_BLOCK);
for (const [first, tokens] of alphabets) tokensOfBlock.fill(tokens, first / UNITS_OF_A_BLOCK);

/** Returns the tokens of one UTF-16 unit beyond ASCII, or what an accent adds to its word. */
function tokensBeyondAscii(code: number, before: number): number {
  if (kinds[code] === WORD) return TOKENS_PER_ACCENT;
  // Rows of symbols, such as lines of a box, and of wide spaces.
  const isSymbol = code === 0xa0 || (code >= 0x2000 && code <= 0x3000);
  if (isSymbol && code === before) return TOKENS_OF_EQUAL_SYMBOL;
  return tokensOfBlock[(code / UNITS_OF_A_BLOCK) | 0] as number;
}
