import { InvalidRequestError } from "../errors.ts";
import type { EvaluationRequest } from "../evaluation.ts";
import { isRecord } from "../questions/record-of.ts";
import type { DecisionCall, DecisionStatePart } from "./decision-model.ts";

/**
 * The state of an evaluation: one text part is text and one JSON object is an object. Anything
 * else becomes one text, parts in order with a blank line between them and JSON as it is written,
 * because keys made up for an object would be input to the model (contract section 2.1).
 *
 * @throws InvalidRequestError when there is no part, a file, or something that is not JSON.
 */
export function fromDecisionState(parts: DecisionCall["state"]): EvaluationRequest["state"] {
  const [first] = parts;
  if (first === undefined)
    throw new InvalidRequestError("The state has no parts; send at least one.");
  if (parts.length === 1 && first.type === "json" && isRecord(first.value)) {
    return first.value;
  }
  return parts.map(toText).join("\n\n");
}

function toText(part: DecisionStatePart): string {
  if (part.type === "text") return part.text;
  if (part.type === "json") return toJson(part.value);
  throw new InvalidRequestError("The state has a file part; send its content as text or JSON.");
}

function toJson(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value);
    if (typeof text === "string") return text;
  } catch {
    // A cycle or a BigInt; the thrown message may quote the state.
  }
  throw new InvalidRequestError("The state has a JSON part that is not a JSON value.");
}
