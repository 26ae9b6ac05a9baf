import { decodeHTMLStrict } from "entities";
import { toPrintable, truncateCharacters } from "evaluator-cli-kit";
import type { Mail } from "../input/mail.ts";
import { toStateFields } from "./extra-headers.ts";
import type { FoundMail, ImportedMail } from "./found-mail.ts";

/** As many characters as a mail program shows beside the subject. */
const SNIPPET_LENGTH = 200;
const READ_LENGTH = 2000;
/** More than a header line may have (RFC 5322, section 2.1.1). */
const HEADER_LENGTH = 1000;

// Every repeat is bounded, or begins where nothing of its kind stands before, and so takes linear
// time. What stands before the digits in the first group stays.
const fragments = [
  // A whole card number, with or without spaces.
  /()(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])/gu,
  // What is left of one: "**** 1234", "xxxx-1234".
  /()(?<![*•·xX#][ -]?)[*•·xX#]{2}(?:[ -]?[*•·xX#])*[ -]?\d{2,6}\b/gu,
  /\b((?:ending|ends|endend|terminant)(?: in| with| on| auf| par)?:? )\d{2,6}\b/giu,
  // "order #123-4567890", "Order number: AB12345", "Bestellnummer 12345".
  /\b((?:order|invoice|booking|confirmation|tracking|bestell\w{0,20}|rechnungs?\w{0,20}|commande)(?:[ -]?(?:no|nr|num|number|id|nummer)\b\.?)?(?: is)?\s?[:#№]?\s?#?)(?=[\w-]{0,40}\d)[A-Z0-9][A-Z0-9-]{3,60}\b/giu,
];

/** Returns the input record of a mail (contract section 4.7), its day as the sender saw it. */
export function toMail(
  { id, date, from, subject, text, labels, extra }: ImportedMail,
  { arrived, source }: Pick<FoundMail, "arrived" | "source">,
): Mail {
  return {
    id,
    date: (date ?? arrived).day,
    from: toPrintable(from.slice(0, HEADER_LENGTH)),
    subject: cutNumbers(toPrintable(subject.slice(0, HEADER_LENGTH))).trim(),
    snippet: toSnippet(text),
    ...toStateFields(extra, cutNumbers),
    // Gmail's exports are the ones with labels.
    source: labels === null ? source : { ...source, gmail: true },
  };
}

/** Returns the snippet of a mail from the start of its text: on one line, entities decoded, numbers cut. */
export function toSnippet(text: string): string {
  // Cut first for speed, and last because what is cut out makes room.
  const start = decodeHTMLStrict(text.slice(0, READ_LENGTH));
  return truncateCharacters(cutNumbers(toPrintable(start)), SNIPPET_LENGTH).trim();
}

/** Returns text without fragments of card and order numbers (contract section 4.7). */
function cutNumbers(text: string): string {
  return fragments
    .reduce((rest, fragment) => rest.replace(fragment, "$1"), text)
    .replace(/ {2,}/g, " ");
}
