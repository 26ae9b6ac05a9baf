/** Labels that say how a mail was handled, and not where it belongs. */
const handlingByLanguage = {
  english: ["Read", "Unread", "Opened", "Archived"],
  german: ["Gelesen", "Ungelesen", "Geöffnet", "Archiviert"],
  french: ["Lus", "Non lus", "Ouvert", "Archivé"],
  spanish: ["Leído", "No leído", "No leídos", "Abierto", "Archivado"],
  portuguese: ["Lido", "Não lidas", "Não lido", "Aberto", "Arquivado"],
  italian: ["Da leggere", "Aperto", "Archiviato"],
  dutch: ["Gelezen", "Ongelezen", "Geopend", "Gearchiveerd"],
};
const handling = new Set(Object.values(handlingByLanguage).flat().map(toName));

/** Says whether a mail carries only a sent label, and is none the user received (contract section 4.7). */
export type IsOnlySent = (labels: readonly string[] | null) => boolean;

/** Gives the rule for what the sent label may be called. */
export function onlySentRule(sentLabels: readonly string[]): IsOnlySent {
  const sent = new Set(sentLabels.map(toName));
  return (labels) => {
    const names = (labels ?? []).map(toName);
    const places = names.filter((name) => name !== "" && !handling.has(name));
    return places.length > 0 && places.every((name) => sent.has(name));
  };
}

function toName(label: string): string {
  return label.normalize("NFC").trim().toLowerCase();
}
