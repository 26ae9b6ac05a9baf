import type { Basis } from "evaluator-calibration";
import type { Evaluation } from "evaluator-client";

/** Returns what the emulator's answer rests on, by its own header; null for any other server. */
export function emulatedBasis(headers: Evaluation["headers"]): Basis | null {
  const header = String(headers["x-evaluator-emulator"] ?? "");
  const basis = /basis=(\w+)/.exec(header)?.[1];
  if (basis === undefined) return null;
  // What rests on nothing is the word matcher's as well: it found no word.
  return basis === "recorded" || basis === "rule" ? basis : "lexical";
}
