import type { Redact } from "../security/redactor.ts";
import type { TextCall } from "./ask-for-text.ts";

/** Passes a reply's pieces on without secrets; `end` passes what was held back. */
export function redactDeltas(onDelta: NonNullable<TextCall["onDelta"]>, { inPieces }: Redact) {
  const pieces = inPieces();
  const pass = async (text: string) => {
    if (text !== "") await onDelta(text);
  };
  return {
    add: (delta: string) => pass(pieces.add(delta)),
    end: () => pass(pieces.end()),
  };
}
