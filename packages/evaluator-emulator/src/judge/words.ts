import { stemmer } from "stemmer";

const wordPattern = /[\p{L}\p{N}]+|[$€£%?]/gu;

/** Returns the stemmed words of a text, case and accents folded; `$ € £ % ?` count as words. */
export function textWords(sourceText: string): string[] {
  const foldedText = sourceText
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase();
  return (foldedText.match(wordPattern) ?? []).map((word) => stemmer(word));
}

/** Stems that are too common to distinguish options. */
export const stopWords: ReadonlySet<string> = new Set(
  textWords(
    `a about above after all also an and any are as at be because been before being below between
    both but by can could did do does doing down each few for from further get gets had has have
    having he her here him how i if in into is it its itself just me more most my nor not
    of off on once only or other our out over own same she should so some such than that the their
    them then there these they this those through to too under until up us very was we were what
    when where which while who whom why will with would you your s t re ve ll d m no none without
    needs need user user's one something anything nothing $ € £ % ?`,
  ),
);
