import { decodeHTMLStrict } from "entities";
import { toPrintable, truncateCharacters } from "evaluator-kit";
import type { Mail } from "../input/mail-schema.ts";
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
  // A whole card number, with or without spaces, or with dots between its groups.
  /()(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])/gu,
  /()(?<![\d.])\d{4}(?:\.\d{4}){2}\.\d{1,7}(?![\d.]\d)/gu,
  // What is left of one: "**** 1234", "xxxx-1234", "*1234" that is no year.
  /()(?<![*•·xX#][ -]?)[*•·xX#]{2}(?:[ -]?[*•·xX#])*[ -]?\d{2,6}\b/gu,
  /()(?<![\w*•])[*•](?!(?:19|20)\d\d\b)\d{4}\b/gu,
  // "Mastercard ...4242", "Konto …4242", "Visa *2026".
  /\b((?:\w{0,12}card|\w{0,12}karte|visa|maestro|amex|american express|carte|tarjeta|carta|account|acct|konto|compte|cuenta)[ :(]{1,3})(?:\.{2,6}|…|[*•·])\d{2,6}\b/giu,
  // "card no: 4242", "Kartennummer 4242", "card #4242".
  /\b((?:\w{0,12}card|\w{0,12}kart(?:en?)?|visa|carte|tarjeta)(?:[ -]?(?:(?:number|nummer|nr|num[eé]ro|n[uú]mero)\b\.?|no[.:]|n[°º])|(?= ?#))(?: is)? ?[:#]{0,2} ?#?)\d{2,12}\b/giu,
  /\b((?:ending|ends|endend|terminant)(?: in| with| on| auf| par)?:? )\d{2,6}\b/giu,
  // "Order number: AB12345", "order number is 77", "Auftrag Nr. 99887", "Commande n° 12345", "Order #77".
  /\b((?:order|invoice|booking|confirmation|tracking|bestell\w{0,20}|rechnungs?\w{0,20}|auftrags?\w{0,20}|commande|facture|pedido|factura|ordine|fattura)(?:[ -]?(?:(?:num|number|id|nr|nummer|num[eé]ro|n[uú]mero)\b\.?|no[.:]|n[°º])|(?=\s?#))(?: is| ist| est| es)?\s?[:#№]?\s?#?)(?=[\w-]{0,40}\d)[A-Z0-9][A-Z0-9-]{1,60}\b/giu,
  // The same without a word for number, "Order 123-4567890", "ORDER-12345": no year, day or price.
  /\b((?:order|invoice|booking|confirmation|tracking|bestell\w{0,20}|rechnungs?\w{0,20}|auftrags?\w{0,20}|commande|facture|pedido|factura|ordine|fattura)(?: no\b\.?)?(?: is)?(?:-(?=[A-Z]{0,3}\d)|\s?[:№]?\s?))(?!(?:19[5-9]|20[0-4])\d(?:-\d\d){0,2}(?![\w-]))(?=[\w-]{0,40}\d)[A-Z0-9][A-Z0-9-]{3,60}\b(?![.,:]\d)(?! ?(?:[€$£%]|(?:EUR|USD|GBP|CHF|euros?|dollars?)\b))/giu,
];

/** Returns the input record of a mail (contract section 4.7), its day as the sender saw it. */
export function toMail(
  { id, date, received, from, subject, text, labels, extra }: ImportedMail,
  { arrived, deliveredAt, source }: Pick<FoundMail, "arrived" | "deliveredAt" | "source">,
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
    received: received ?? deliveredAt ?? undefined,
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
