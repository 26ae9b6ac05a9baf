const written: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};
const read: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const NULL = String.raw`\N`;

/** Returns cells as a line of COPY's text format. */
export function toCopyLine(cells: readonly (string | null)[]): string {
  return `${cells.map(toCopyText).join("\t")}\n`;
}

function toCopyText(cell: string | null): string {
  if (cell === null) return NULL;
  return cell.replace(/[\\\t\n\r]/g, (character) => written[character] ?? character);
}

/** Returns the cells of a line of COPY's text format, given without its end. */
export function fromCopyLine(line: string): (string | null)[] {
  return line.split("\t").map(fromCopyText);
}

function fromCopyText(text: string): string | null {
  if (!text.includes("\\")) return text;
  if (text === NULL) return null;
  return text.replace(/\\(.)/g, (_, letter: string) => read[letter] ?? letter);
}
