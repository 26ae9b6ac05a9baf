import { decodeHTMLStrict } from "entities";
import { toPrintable, truncateCharacters } from "evaluator-kit";
import type { Mail, StateFields } from "../input/mail-schema.ts";
import type { FoundMail, ImportedMail } from "./found-mail.ts";
import { withoutPadding } from "./visible-text.ts";

/** As many characters as a mail program shows beside the subject. */
const SNIPPET_LENGTH = 200;
const READ_LENGTH = 2000;
/** More than a header line may have (RFC 5322, section 2.1.1). */
const HEADER_LENGTH = 1000;
// More of a header costs tokens and changes no answer.
const ATTACHMENTS = 20;
const NAME_LENGTH = 100;
const LIST_ID_LENGTH = 200;
const RESULTS_LENGTH = 300;

/** So much is read for these, since padding and rules may take the place of a text. */
const PADDED_LENGTH = 16_000;

// Linear time: every repeat is bounded, or a lookbehind rejects a start within the same run. The text
// of the first group is kept.
const fragments = [
  // A masked card: "**** 1234", "xxxx-1234", "##1234", "*1234" that is no year; "## 2026" is a heading.
  /()(?<![*•·xX#][ -]?)[*•·xX#]{2}(?:[ -]?[*•·xX#]){2,60}[ -]?\d{2,6}\b/gu,
  /()(?<![\w*•·#])[*•·xX#]{2,3}(?!(?:19|20)\d\d\b)\d{4}\b/gu,
  /()(?<![*•·])[*•·]{2,3} (?!(?:19|20)\d\d\b)\d{4}\b/gu,
  /()(?<![\w*•])[*•](?!(?:19|20)\d\d\b)\d{4}\b/gu,
  // "Mastercard ...4242", "Konto …4242", "Visa *2026".
  /\b((?:\w{0,12}card|\w{0,12}karte|visa|maestro|amex|american express|carte|tarjeta|carta|account|acct|konto|compte|cuenta)[ :(]{1,3})(?:\.{2,6}|…|[*•·])\d{2,6}\b/giu,
  // "card no: 4242", "Kartennummer 4242", "card #4242".
  /\b((?:\w{0,12}card|\w{0,12}kart(?:en?)?|visa|carte|tarjeta)(?:[ -]?(?:(?:number|nummer|nr|num[eé]ro|n[uú]mero)\b\.?|no[.:]|n[°º])|(?= ?#))(?: is)? ?[:#]{0,2} ?#?)\d{2,12}\b/giu,
  /\b((?:ending|ends|endend|terminant)(?: in| with| on| auf| par)?:? )\d{2,6}\b/giu,
  // "Order number: AB12345", "order number is 77", "Auftrag Nr. 99887", "Commande n° 12345", "Order #77".
  /\b((?:order|invoice|booking|confirmation|tracking|bestell\w{0,20}|rechnungs?\w{0,20}|auftrags?\w{0,20}|commande|facture|pedido|factura|ordine|fattura)(?:[ -]?(?:(?:num|number|id|nr|nummer|num[eé]ro|n[uú]mero)\b\.?|no[.:]|n[.°º])|(?=\s?#))(?: is| ist| est| es| lautet)?\s?[:#№]?\s?#?)(?=[\w-]{0,40}\d)[A-Z0-9][A-Z0-9-]{1,60}\b/giu,
  // Without a word for number, "Order 123-4567890", "ORDER-12345": no year, day or price.
  /\b((?:order|invoice|booking|confirmation|tracking|bestell\w{0,20}|rechnungs?\w{0,20}|auftrags?\w{0,20}|commande|facture|pedido|factura|ordine|fattura)(?: no\b\.?)?(?: is)?(?:-(?=[A-Z]{0,3}\d)|\s?[:№]?\s?))(?!(?:19[5-9]|20[0-4])\d(?:-\d\d){0,2}(?![\w-])|\d{1,2}-(?:\d{1,2}|[A-Z]{3})-\d{2,4}(?![\w-])|(?:1-)?\d{3}-\d{3}-\d{4}(?![\w-]))(?=[\w-]{0,40}\d)[A-Z0-9][A-Z0-9-]{3,60}\b(?![.,:]\d)(?! ?(?:[€$£%]|(?:EUR|USD|GBP|CHF|euros?|dollars?)\b))/giu,
  // The same in further languages: "ordrenummer 445566", "номер заказа 445566", "注文番号：445566".
  /((?<!\p{L})(?:ordre|beställning|bestilling|bestel(?:ling|nummer|nr)|tilaus|zam[oó]wieni|objedn[aá]vk|encomenda|заказ|注文|订单|訂單|주문)\p{L}{0,15}\.?(?: (?:nr|no|n[°º]|numer|numero|číslo)\b\.?| ?№)?\s?[:：#]?\s?)(?!(?:19[5-9]|20[0-4])\d(?![\w-]))(?=[\w-]{0,40}\d{4})[A-Z0-9][A-Z0-9-]{3,60}(?![\w.,:-]\d)/giu,
];

/** Returns the input record of a mail (contract section 4.7), its day as the sender saw it. */
export function toMail(
  { id, date, received: receivedTime, from, subject, text, labels, headers, extra }: ImportedMail,
  {
    arrived: arrivalTime,
    deliveredAt,
    source,
  }: Pick<FoundMail, "arrived" | "deliveredAt" | "source">,
): Mail {
  return {
    id,
    date: date ?? arrivalTime,
    from: toPrintable(from.slice(0, HEADER_LENGTH)),
    subject: cutNumbers(toPrintable(subject.slice(0, HEADER_LENGTH))).trim(),
    snippet: toSnippet(text),
    ...toStateFields(extra),
    // Gmail's exports are the ones with labels.
    source: labels === null ? source : { ...source, gmail: true },
    received: receivedTime ?? deliveredAt ?? undefined,
    headers,
  };
}

// On one line, with entities decoded.
function toSnippet(mailText: string): string {
  const visibleWords = withoutPadding(decodeHTMLStrict(mailText.slice(0, PADDED_LENGTH)));
  // Cut before for speed, and after because removed numbers make room.
  const startText = cutNumbers(toPrintable(visibleWords.slice(0, READ_LENGTH)));
  return truncateCharacters(withoutLead(startText), SNIPPET_LENGTH).trim();
}

/** Rules of dashes, and addresses as long as those that count readers, before the first word. */
const leadPattern =
  /^(?:[\s<([]{0,10}https?:\/\/[^\s\])>]{60,2000}[\])>]{0,3}|[^\p{L}\p{N}\p{Sc}\p{P}\p{S}]{1,9}|([-=_*~#.•·+─━═—–▬/\\])(?:\s?\1){2,2000})/iu;

function withoutLead(snippetText: string): string {
  let remainingText = snippetText;
  for (
    let foundMatch = leadPattern.exec(remainingText);
    foundMatch !== null;
    foundMatch = leadPattern.exec(remainingText)
  )
    remainingText = remainingText.slice(foundMatch[0].length);
  return remainingText === "" ? snippetText : remainingText;
}

/** Groups of digits as cards have them (16 to 19; American Express and Diners), or digits alone. */
const cardPattern =
  /(?<![\d.-])(?:\d{13,19}|\d{4}(?:([ .-])\d{4}\1\d{4}\1\d{1,7}|([ -])\d{6}\2\d{4,5}))(?![\d-]|\.\d)/gu;
/** The first digits of cards, by their length (ISO/IEC 7812): a device, a parcel and a row of years have others. */
const issuedPattern = /^(?:(?:[456]|2[2-7])\d{15,18}|3[47]\d{13}|35\d{14}|3[0689]\d{12}|4\d{12})$/;

/** Returns text without fragments of card and order numbers (contract section 4.7). */
function cutNumbers(mailText: string): string {
  if (!/\d/.test(mailText)) return mailText;
  return fragments
    .reduce(
      (remainingText, fragment) => remainingText.replace(fragment, "$1"),
      mailText.replace(cardPattern, withoutCard),
    )
    .replace(/ {2,}/g, " ");
}

function withoutCard(cardNumber: string): string {
  const bareNumber = cardNumber.replace(/\D/g, "");
  if (!issuedPattern.test(bareNumber)) return cardNumber;
  const cardDigits = Array.from(bareNumber, Number).toReversed();
  const doubledDigits = cardDigits.map((cardDigit, digitIndex) =>
    digitIndex % 2 === 0 ? cardDigit : cardDigit * 2 - (cardDigit > 4 ? 9 : 0),
  );
  // The check digit of ISO/IEC 7812.
  return doubledDigits.reduce((digitSum, doubledDigit) => digitSum + doubledDigit, 0) % 10 === 0
    ? ""
    : cardNumber;
}

/** Returns the fields of a record for attachments and further headers, without the empty ones. */
function toStateFields(mailExtra: ImportedMail["extra"]): StateFields {
  const { attachments, listId, authenticationResults } = mailExtra;
  const namedAttachments = attachments.slice(0, ATTACHMENTS).map(({ name, type }) => ({
    name: cutNumbers(shortText(name, NAME_LENGTH)).trim(),
    type: shortText(type, NAME_LENGTH).toLowerCase(),
  }));
  const listName = shortText(listId, LIST_ID_LENGTH);
  const results = toResults(authenticationResults);
  return {
    ...(namedAttachments.length > 0 && { attachments: namedAttachments }),
    ...(listName !== "" && { list_id: listName }),
    ...(results !== "" && { authentication_results: results }),
  };
}

function shortText(fullText: string, mostLength: number): string {
  return toPrintable(fullText.slice(0, 10 * mostLength))
    .slice(0, mostLength)
    .toWellFormed();
}

// Without comments and parts of signatures.
function toResults(resultsHeader: string): string {
  const bareHeader = resultsHeader.slice(0, 10 * RESULTS_LENGTH).replace(/\([^()]*\)/g, " ");
  return shortText(bareHeader.replace(/\bheader\.[bs]=[^\s;]*/g, " "), RESULTS_LENGTH).replace(
    / ;/g,
    ";",
  );
}
