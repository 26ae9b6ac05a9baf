/** Input that cannot be read: the message names the file, the line, the field and what would be right. */
export class CalibrationInputError extends Error {
  constructor(where: SourceLocation, problem: string) {
    const line = where.line === undefined ? "" : ` line ${where.line}`;
    super(`${where.file}${line}: ${problem}`);
    this.name = "CalibrationInputError";
  }
}

/** Where a record stands. */
export interface SourceLocation {
  readonly file: string;
  readonly line?: number;
}

/** Returns a value as a message quotes it: short, on one line, without control characters. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
}

/** Returns a list of names as a message gives it, the first few of many. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 12).map(quote).join(", ");
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}
