import { decodeHTMLStrict } from "entities";
import { cutGraphemes } from "../text/cut-graphemes.ts";
import { plainText } from "../text/plain-text.ts";
import { cutNumbers } from "./cut-numbers.ts";

/** As many characters as a mail program shows beside the subject. */
const SNIPPET_LENGTH = 200;
const READ_LENGTH = 2000;

/**
 * Gives the snippet of a mail from the start of its text: on one line, entities decoded, card-digit
 * and order-number fragments cut (contract section 4.7).
 */
export function toSnippet(text: string): string {
  // Cut first for speed, and last because what is cut out makes room.
  const start = decodeHTMLStrict(text.slice(0, READ_LENGTH));
  return cutGraphemes(cutNumbers(plainText(start)), SNIPPET_LENGTH).trim();
}
