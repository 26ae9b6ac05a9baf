import type { KeptEvaluation } from "../journal/kept-evaluation.ts";

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Gives one call's answers and provider metadata under the mail's id: a line of JSON safe to print. */
export function toRawLine(id: string, { answers, providerMetadata }: KeptEvaluation): string {
  const json = JSON.stringify({ id, answers, providerMetadata });
  return `${json.replace(unprintable, escaped)}\n`;
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
