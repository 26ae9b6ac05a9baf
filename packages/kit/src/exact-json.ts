import { printable } from "./printable.ts";

/** A place in JSON: keys and indexes from the root. */
export type JsonPath = readonly (string | number)[];

/** The problem of a number that {@link parseExactJson} finds, after its place. */
export const INEXACT = "is a number that would be rounded; write it as text, or with fewer digits";

/** Returns the problem of such a number with its place, and without the number. */
export function describeInexact(path: JsonPath): string {
  return printable`"${path.join(".").slice(0, 100)}" ${INEXACT}`;
}

/**
 * Parses JSON. `inexact` has the places of numbers that JavaScript would change: beyond ±(2^53 − 1), if they
 * have other digits as a double. Fractions keep about 17 digits, as in any reader.
 *
 * @throws SyntaxError
 */
export function parseExactJson(text: string): { value: unknown; inexact: readonly JsonPath[] } {
  const value: unknown = JSON.parse(text);
  // Only a long number or one with an exponent can be inexact, so most texts are parsed once.
  const canBeInexact = /[\d.]{16}|\d[eE]\+?\d/.test(text);
  return { value, inexact: canBeInexact ? findInexact(text) : [] };
}

function findInexact(text: string): readonly JsonPath[] {
  let isFound = false;
  const mark: Reviver = (_key, value, context) => {
    if (typeof value !== "number" || isExact(value, context?.source ?? "")) return value;
    isFound = true;
    return inexact;
  };
  try {
    const markedValue: unknown = JSON.parse(text, mark);
    return isFound ? pathsIn(markedValue) : [];
  } catch (error) {
    // JSON of thousands of levels exhausts the stack; every reader refuses it.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** Stands for the number in the parsed value. */
const inexact = Symbol("inexact");

function isExact(value: number, source: string): boolean {
  return (
    Number.isSafeInteger(Math.trunc(value)) || listDigits(String(value)) === listDigits(source)
  );
}

/** Returns the digits that count: without sign, point, exponent and the zeros at both ends. */
function listDigits(number: string): string {
  const [mantissa = ""] = number.split(/e/i, 1);
  const digits = mantissa.replace(/\D/g, "").replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}

function pathsIn(value: unknown, path: JsonPath = []): JsonPath[] {
  if (value === inexact) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    return pathsIn(item, [...path, Array.isArray(value) ? Number(key) : key]);
  });
}
