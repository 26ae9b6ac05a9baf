/** A place in a text, from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** Returns the place of a syntax error, given the error of `JSON.parse`, which may quote private text. */
export function jsonErrorPlace(jsonText: string, error: unknown): Place {
  return placeAt(jsonText, findOffset(jsonText, String(error)));
}

function findOffset(jsonText: string, parserMessage: string): number {
  const offset = / at position (\d+)/.exec(parserMessage)?.[1];
  if (offset !== undefined) return Number(offset);
  if (!isWrongToken(parserMessage)) return jsonText.length; // it ends too early
  // The parser quotes ten characters before a wrong token, and gives no place.
  const quoteStart = ', ..."';
  const [, quotedContext = ""] = parserMessage.split(quoteStart, 2);
  const quotedBefore = quotedContext.slice(0, 11);
  const quoteIndex = quotedBefore.length === 11 ? jsonText.indexOf(quotedBefore) : -1;
  return quoteIndex >= 0 && quoteIndex === jsonText.lastIndexOf(quotedBefore)
    ? quoteIndex + 10
    : searchToken(jsonText);
}

/** Returns the offset of the wrong token: the end of the shortest start of the text that has it. */
function searchToken(jsonText: string): number {
  let [validLength, invalidLength] = [0, jsonText.length];
  while (invalidLength - validLength > 1) {
    const middleLength = (validLength + invalidLength) >> 1;
    try {
      JSON.parse(jsonText.slice(0, middleLength));
      validLength = middleLength;
    } catch (error) {
      if (isWrongToken(String(error))) invalidLength = middleLength;
      else validLength = middleLength;
    }
  }
  return validLength;
}

function isWrongToken(parserMessage: string): boolean {
  return parserMessage.startsWith("SyntaxError: Unexpected token");
}

/** Returns the place of an offset in a text. */
export function placeAt(text: string, offset: number): Place {
  const precedingLines = text.slice(0, offset).split("\n");
  return { line: precedingLines.length, column: (precedingLines.at(-1) ?? "").length + 1 };
}
