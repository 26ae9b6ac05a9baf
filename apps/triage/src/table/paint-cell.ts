import { styleText } from "node:util";

/** From which value on a cell stands out. */
const thresholds: Readonly<Record<string, number>> = { importance: 4, scam: 0.5, brandDeal: 0.5 };

/** Colours a cell whose value asks for attention. */
export function paintCell(text: string, field: string, value: unknown): string {
  const threshold = Object.hasOwn(thresholds, field) ? thresholds[field] : undefined;
  if (threshold === undefined || typeof value !== "number" || value < threshold) return text;
  return styleText(field === "scam" ? "red" : "yellow", text, { validateStream: false });
}
