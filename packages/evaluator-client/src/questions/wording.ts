import * as z from "zod/mini";
import { copyJson, Flaw, type JsonObject, type JsonValue, recordInOrder } from "./json.ts";

/** The wording of a question, an option or a level: text, or JSON, which the vendor's API and the gateway read as such. */
export type Wording = string | JsonObject | readonly JsonValue[];

/** Returns the schema of a {@link Wording}. */
export function wordingSchema() {
  return z.custom<Wording>(isWording, "use text, or an object or a list of JSON");
}

function isWording(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value === "string";
  return !(copyJson(value) instanceof Flaw);
}

/** Returns a wording as text, for services and people that read no JSON; empty for null. */
export function wordingText(wording: Wording | null): string {
  if (wording === null) return "";
  return typeof wording === "string" ? wording : JSON.stringify(wording);
}

/** Returns a question with each of its wordings mapped; options keep their order. */
export function mapWordings<
  TQuestion extends { readonly instructions: Wording; readonly criteria?: object | undefined },
>(question: TQuestion, map: (wording: Wording | null) => Wording | null): TQuestion {
  const { instructions, criteria } = question;
  if (criteria === undefined) return { ...question, instructions: map(instructions) };
  const entries = Object.entries(criteria).map(
    ([name, text]) => [name, map(text as Wording)] as const,
  );
  const mappedParts = Array.isArray(criteria)
    ? entries.map(([, text]) => text)
    : recordInOrder(entries);
  return { ...question, instructions: map(instructions), criteria: mappedParts };
}
