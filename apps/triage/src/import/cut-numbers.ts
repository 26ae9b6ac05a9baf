// What stands before the digits in the first group stays.
const fragments = [
  // A whole card number, with or without spaces.
  /()(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])/gu,
  // What is left of one: "**** 1234", "xxxx-1234", "ending in 1234".
  /()(?:[*•·xX#]{2,}[ -]?)+\d{2,6}\b/gu,
  /\b((?:ending|ends|endend|terminant)(?: in| with| on| auf| par)?:? )\d{2,6}\b/giu,
  // "order #123-4567890", "Order number: AB12345", "Bestellnummer 12345".
  /\b((?:order|invoice|booking|confirmation|tracking|bestell\w*|rechnungs?\w*|commande)(?:[ -]?(?:no|nr|num|number|id|nummer)\b\.?)?(?: is)?\s?[:#№]?\s?#?)(?=[\w-]*\d)[A-Z0-9][A-Z0-9-]{3,}\b/giu,
];

/** Cuts fragments of card and order numbers out of a text. */
export function cutNumbers(text: string): string {
  return fragments
    .reduce((rest, fragment) => rest.replace(fragment, "$1"), text)
    .replace(/ {2,}/g, " ");
}
