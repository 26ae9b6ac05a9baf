const NEWLINE = 10;
const [SPACE, QUOTE, PLUS, MINUS, POINT] = [32, 34, 43, 45, 46];
const [ZERO, NINE, BACKSLASH, LETTER_F] = [48, 57, 92, 102];

/** A text, a number or a word of a line: where lines of one shape may differ. */
interface Slot {
  /** What comes between the slot before and this one: braces, keys, colons, commas, spaces. */
  readonly before: string;
  readonly token: string;
  /** Of the latest line. */
  value: unknown;
  /** Whether any two lines differed here. */
  varies: boolean;
}

/** How the slots of a line make its value: a slot, an object, or without keys an array. */
type Node = Slot | { readonly keys: string[] | null; readonly nodes: Node[] };

/** What lines have in common that differ in some slots alone. */
interface Shape {
  readonly slots: readonly Slot[];
  readonly after: string;
  readonly root: Node;
  /** Everything up to each slot that varies; what does not vary is compared as one text. */
  parts: { readonly before: string; readonly slot: Slot }[];
  end: string;
}

/** A text of whole lines, with the code of each character: an array of them is read several times as fast. */
export class Lines {
  readonly text: string;
  /** Ends with a line's end, so that nothing looks beyond it. */
  readonly codes: Uint8Array | Uint16Array;

  constructor(text: string) {
    this.text = text;
    const bytes = new Uint8Array(text.length + 1);
    const { read } = encoder.encodeInto(text, bytes.subarray(0, -1));
    this.codes = read === text.length ? bytes : codesOf(text);
    this.codes[text.length] = NEWLINE;
  }
}

const encoder = new TextEncoder();

function codesOf(text: string): Uint16Array {
  const codes = new Uint16Array(text.length + 1);
  for (let at = 0; at < text.length; at += 1) codes[at] = text.charCodeAt(at);
  return codes;
}

/** Lines of so many shapes may take turns, such as the answers to several questions. */
const MOST_SHAPES = 8;
/** A longer line is mostly text, where comparing shapes wins little. */
const LONGEST_LINE = 2000;

/**
 * Parses lines of JSON that mostly differ from those before in a few values: such a line is compared
 * with a shape, which takes about half the time of JSON.parse. Any other goes to JSON.parse.
 */
export class AlikeLines {
  readonly #shapes: Shape[] = [];
  #read = 0;
  #learnt = 0;

  /** Where the latest line ended. */
  end = 0;

  /** Returns the value of the line that begins somewhere. @throws SyntaxError where it is not JSON. */
  parse(lines: Lines, from: number): unknown {
    this.#read += 1;
    const shapes = this.#shapes;
    for (let at = 0; at < shapes.length; at += 1) {
      const shape = shapes[at] as Shape;
      const end = fill(shape, lines, from);
      if (end === -1) continue;
      this.end = end;
      if (at > 0) shapes.unshift(...shapes.splice(at, 1));
      return build(shape.root);
    }
    this.end = lines.codes.indexOf(NEWLINE, from);
    const line = lines.text.slice(from, this.end);
    const value: unknown = JSON.parse(line);
    this.#learn(line);
    return value;
  }

  #learn(line: string): void {
    // Lines that are never alike must not cost much more than JSON.parse.
    if (line.length > LONGEST_LINE || this.#learnt > 100 + this.#read / 10) return;
    this.#learnt += 1;
    const shape = shapeOf(line);
    if (shape === null) return;
    const at = this.#shapes.findIndex((other) => isSame(other, shape));
    const [known] = at === -1 ? [] : this.#shapes.splice(at, 1);
    this.#shapes.unshift(known === undefined ? shape : joined(known, shape));
    if (this.#shapes.length > MOST_SHAPES) this.#shapes.pop();
  }
}

// Cannot fail once a text has begun, so that nothing is read twice.
const TOKENS = /"(?:[^"\\]|\\[^]?)*"?|[{}[\]]|[^\s{}[\],:"]+/g;

/** Returns the shape of a line that is JSON, or null where a value cannot be made again key by key. */
function shapeOf(line: string): Shape | null {
  const slots: Slot[] = [];
  const top: Node = { keys: null, nodes: [] };
  const open = [top];
  let start = 0;
  for (const { 0: token, index } of line.matchAll(TOKENS)) {
    const { keys, nodes } = open.at(-1) ?? top;
    if (token === "}" || token === "]") open.pop();
    else if (token === "{" || token === "[") {
      const inner = { keys: token === "{" ? [] : null, nodes: [] };
      nodes.push(inner);
      open.push(inner);
    } else if (keys?.length === nodes.length) {
      keys.push(JSON.parse(token) as string);
      if (keys.at(-1) === "__proto__") return null;
    } else {
      const before = line.slice(start, index);
      const slot = { before, token, value: JSON.parse(token) as unknown, varies: false };
      slots.push(slot);
      nodes.push(slot);
      start = index + token.length;
    }
  }
  const [root] = top.nodes;
  return root === undefined
    ? null
    : { slots, after: line.slice(start), root, parts: [], end: line };
}

function isSame(one: Shape, other: Shape): boolean {
  return (
    one.after === other.after &&
    one.slots.length === other.slots.length &&
    one.slots.every(({ before }, at) => before === other.slots[at]?.before)
  );
}

/** Lets a shape's slots vary where a line differs from it. */
function joined(shape: Shape, { slots }: Shape): Shape {
  shape.parts = [];
  let before = "";
  for (const [at, slot] of shape.slots.entries()) {
    before += slot.before;
    slot.varies ||= slot.token !== slots[at]?.token;
    if (slot.varies) {
      shape.parts.push({ before, slot });
      before = "";
    } else before += slot.token;
  }
  shape.end = before + shape.after;
  return shape;
}

function build(node: Node): unknown {
  if (!("nodes" in node)) return node.value;
  const { keys, nodes } = node;
  if (keys === null) return nodes.map(build);
  const value: Record<string, unknown> = {};
  for (let i = 0; i < keys.length; i += 1) value[keys[i] as string] = build(nodes[i] as Node);
  return value;
}

/** Takes a line's values into the slots of a shape; returns its end, or −1 where the line is not of it. */
function fill({ parts, end }: Shape, lines: Lines, from: number): number {
  const { text, codes } = lines;
  let at = from;
  for (let i = 0; i < parts.length; i += 1) {
    const { before, slot } = parts[i] as Shape["parts"][number];
    // Slices are compared many characters at a time; startsWith takes four times as long.
    if (text.slice(at, at + before.length) !== before) return -1;
    at = take(slot, lines, at + before.length);
    if (at === -1) return -1;
  }
  const to = at + end.length;
  return text.slice(at, to) === end && codes[to] === NEWLINE ? to : -1;
}

/** Takes one token into a slot and returns where it ends, or −1 where none begins. */
function take(slot: Slot, lines: Lines, from: number): number {
  const { text, codes } = lines;
  const first = codes[from] as number;
  if (first === QUOTE) return takeText(slot, lines, from);
  if (first === MINUS || isDigit(first)) return takeNumber(slot, lines, from);
  const word = first === LETTER_F ? text.slice(from, from + 5) : text.slice(from, from + 4);
  if (word !== "true" && word !== "false" && word !== "null") return -1;
  slot.value = word === "null" ? null : word === "true";
  return from + word.length;
}

function takeText(slot: Slot, { text, codes }: Lines, from: number): number {
  let isPlain = true;
  let end = from + 1;
  for (let code = codes[end] as number; code !== QUOTE; code = codes[++end] as number) {
    if (code === BACKSLASH) {
      isPlain = false;
      code = codes[++end] as number;
    }
    // A control character, or the end of the text.
    if (!(code >= SPACE)) return -1;
  }
  end += 1;
  // A long slice would keep the whole text it is from in memory; V8 copies short ones.
  const isShort = isPlain && end - from < 15;
  slot.value = isShort ? text.slice(from + 1, end - 1) : JSON.parse(text.slice(from, end));
  return end;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const POWERS = Array.from({ length: 16 }, (_, decimals) => 10 ** decimals);

function takeNumber(slot: Slot, { text, codes }: Lines, from: number): number {
  let end = from;
  let digits = 0;
  let point = -1;
  let isDecimal = true;
  for (let code = codes[end] as number; isOfNumber(code); code = codes[++end] as number) {
    if (isDigit(code)) digits = 10 * digits + code - ZERO;
    else if (code === POINT && point === -1 && end > from) point = end;
    else isDecimal = false;
  }
  const decimals = point === -1 ? 0 : end - point - 1;
  const whole = point === -1 ? end - from : point - from;
  const hasExtraZero = whole > 1 && (codes[from] as number) === ZERO;
  const isShort = end - from < 16 && (decimals !== 0) === (point !== -1);
  // Both are exact up to fifteen digits, so their quotient is the number nearest to what is written.
  if (isDecimal && isShort && !hasExtraZero) slot.value = digits / (POWERS[decimals] as number);
  else {
    const token = text.slice(from, end);
    if (!NUMBER.test(token)) return -1;
    slot.value = Number(token);
  }
  return end;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Whether a character may stand in a number: a digit, or one of `.+-eE`. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === POINT || code === MINUS || code === PLUS || (code | 32) === 101;
}
