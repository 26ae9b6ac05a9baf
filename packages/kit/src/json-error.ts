/** A place in a text, from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** Returns the place of a syntax error, given the error of `JSON.parse`, which may quote private text. */
export function jsonErrorPlace(text: string, error: unknown): Place {
  return placeAt(text, offsetOf(text, String(error)));
}

function offsetOf(text: string, message: string): number {
  const offset = / at position (\d+)/.exec(message)?.[1];
  if (offset !== undefined) return Number(offset);
  if (!isWrongToken(message)) return text.length; // it ends too early
  // The parser quotes ten characters before a wrong token, and gives no place.
  const quote = ', ..."';
  const [, context = ""] = message.split(quote, 2);
  const before = context.slice(0, 11);
  const at = before.length === 11 ? text.indexOf(before) : -1;
  return at >= 0 && at === text.lastIndexOf(before) ? at + 10 : searchToken(text);
}

/** Returns the offset of the wrong token: the end of the shortest start of the text that has it. */
function searchToken(text: string): number {
  let [right, wrong] = [0, text.length];
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    try {
      JSON.parse(text.slice(0, middle));
      right = middle;
    } catch (error) {
      if (isWrongToken(String(error))) wrong = middle;
      else right = middle;
    }
  }
  return right;
}

function isWrongToken(message: string): boolean {
  return message.startsWith("SyntaxError: Unexpected token");
}

/** Returns the place of an offset in a text. */
export function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}
