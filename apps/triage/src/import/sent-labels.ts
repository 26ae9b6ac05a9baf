import labels from "./gmail-labels.json" with { type: "json" };

/** Names of the sent label in the languages of Gmail; the Gmail API has `SENT`. */
const sentNames = namesIn(labels.sent);
/** Labels for the handling of a mail; they name no folder. */
const handling = new Set(namesIn(labels.handling));
/** Words before the name of a tab, such as "Category Updates" and `Kategorie: "Neuigkeiten"`. */
const categories = namesIn(labels.category);

/** Returns a function that checks if a mail has only sent labels and was not received (contract section 4.7). */
export function onlySentRule(otherSentLabels: readonly string[] = []) {
  const allSentNames = new Set([...sentNames, ...otherSentLabels.map(toName)]);
  return (labels: readonly string[] | null): boolean => {
    const names = (labels ?? []).map(toName);
    const folders = names.filter((name) => name !== "" && !handling.has(name) && !isCategory(name));
    return folders.length > 0 && folders.every((name) => allSentNames.has(name));
  };
}

function isCategory(name: string): boolean {
  return categories.some(
    (word) => name.startsWith(word) && /^(?:\s?:|[ _])/.test(name.slice(word.length)),
  );
}

/** Returns the names of a table, which has them by their source and language. */
function namesIn(
  table: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>,
): string[] {
  return Object.values(table).flatMap((languages) => Object.values(languages).flat().map(toName));
}

function toName(label: string): string {
  return label.normalize("NFC").trim().toLowerCase();
}
