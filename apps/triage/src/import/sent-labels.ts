import labels from "./gmail-labels.json" with { type: "json" };

/** Names of the sent label in the languages of Gmail; the Gmail API has `SENT`. */
const sentNames = namesIn(labels.sent);
/** Labels for the handling of a mail; they name no folder. */
const handling = new Set(namesIn(labels.handling));
/** Words before the name of a tab, such as "Category Updates" and `Kategorie: "Neuigkeiten"`. */
const categories = namesIn(labels.category);

/** Returns a function that checks if a mail has only sent labels and was not received (contract section 4.7). */
export function onlySentRule(otherSentLabels: readonly string[] = []) {
  const allSentNames = new Set([...sentNames, ...otherSentLabels.map(toLabelName)]);
  return (labelNames: readonly string[] | null): boolean => {
    const normalNames = (labelNames ?? []).map(toLabelName);
    const folders = normalNames.filter(
      (labelName) => labelName !== "" && !handling.has(labelName) && !isCategory(labelName),
    );
    return folders.length > 0 && folders.every((folderName) => allSentNames.has(folderName));
  };
}

function isCategory(labelName: string): boolean {
  return categories.some(
    (categoryName) =>
      labelName.startsWith(categoryName) &&
      /^(?:\s?:|[ _])/.test(labelName.slice(categoryName.length)),
  );
}

/** Returns the names of a table, which has them by their source and language. */
function namesIn(
  labelTable: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>,
): string[] {
  return Object.values(labelTable).flatMap((languages) =>
    Object.values(languages).flat().map(toLabelName),
  );
}

function toLabelName(labelText: string): string {
  return labelText.normalize("NFC").trim().toLowerCase();
}
