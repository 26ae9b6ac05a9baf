import { plainText } from "../text/plain-text.ts";

/** Gives a field's name as a heading: `brandDeal` is "Brand deal". */
export function fieldTitle(field: string): string {
  const words = plainText(field).replace(/(?<=[\p{Ll}\d])\p{Lu}/gu, (letter) => ` ${letter}`);
  return words.slice(0, 1).toUpperCase() + words.slice(1).toLowerCase();
}
