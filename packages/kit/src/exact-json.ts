import { printable } from "./printable.ts";

/** A place in JSON: keys and indexes from the root. */
export type JsonPath = readonly (string | number)[];

/** The problem of a number that {@link parseExactJson} finds, after its place. */
export const INEXACT = "would be rounded; write it as text or with fewer digits";

/** Returns the problem of such a number with its place, and without the number. */
export function describeInexact(inexactPath: JsonPath): string {
  return printable`"${inexactPath.join(".").slice(0, 100)}" ${INEXACT}`;
}

/**
 * Parses JSON. `inexact` has the places of numbers that JavaScript would change: beyond ±(2^53 − 1), if they
 * have other digits as a double. Fractions keep about 17 digits, as in any reader.
 *
 * @throws SyntaxError
 */
export function parseExactJson(jsonText: string): { value: unknown; inexact: readonly JsonPath[] } {
  const parsedValue: unknown = JSON.parse(jsonText);
  // Only a long number or one with an exponent can be inexact, so most texts are parsed once.
  const canBeInexact = /[\d.]{16}|\d[eE]\+?\d/.test(jsonText);
  return { value: parsedValue, inexact: canBeInexact ? findInexact(jsonText) : [] };
}

function findInexact(jsonText: string): readonly JsonPath[] {
  let isFound = false;
  const markInexact: Reviver = (_key, itemValue, context) => {
    if (typeof itemValue !== "number" || isExact(itemValue, context?.source ?? ""))
      return itemValue;
    isFound = true;
    return inexactMark;
  };
  try {
    const markedValue: unknown = JSON.parse(jsonText, markInexact);
    return isFound ? listInexactPaths(markedValue) : [];
  } catch (error) {
    // JSON of thousands of levels exhausts the stack; every reader refuses it.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** Stands for the number in the parsed value. */
const inexactMark = Symbol("inexact");

function isExact(parsedNumber: number, numberText: string): boolean {
  return (
    Number.isSafeInteger(Math.trunc(parsedNumber)) ||
    significantDigits(String(parsedNumber)) === significantDigits(numberText)
  );
}

/** Returns the digits that count: without sign, point, exponent and the zeros at both ends. */
function significantDigits(numberText: string): string {
  const [mantissa = ""] = numberText.split(/e/i, 1);
  const trimmedDigits = mantissa.replace(/\D/g, "").replace(/^0+/, "");
  let digitCount = trimmedDigits.length;
  while (trimmedDigits[digitCount - 1] === "0") digitCount -= 1;
  return trimmedDigits.slice(0, digitCount);
}

function listInexactPaths(markedValue: unknown, parentPath: JsonPath = []): JsonPath[] {
  if (markedValue === inexactMark) return [parentPath];
  if (typeof markedValue !== "object" || markedValue === null) return [];
  return Object.entries(markedValue).flatMap(([key, itemValue]) => {
    return listInexactPaths(itemValue, [
      ...parentPath,
      Array.isArray(markedValue) ? Number(key) : key,
    ]);
  });
}
