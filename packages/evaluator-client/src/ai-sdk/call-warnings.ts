import type { EvaluationRequest } from "../evaluation.ts";
import type { DecisionCall, DecisionWarning } from "./decision-model.ts";

/** What an evaluator does not do as the call asks, given the state that it sends. */
export function callWarnings(
  call: DecisionCall,
  state: EvaluationRequest["state"],
): DecisionWarning[] {
  const { maxOutputTokens, reasoning, headers = {}, providerOptions = {} } = call;
  // The package adds its own name to every call.
  const addsHeaders = Object.keys(headers).some((name) => name.toLowerCase() !== "user-agent");
  const isText = call.state.length === 1 && call.state[0]?.type === "text";
  return [
    ...unsupported("maxOutputTokens", maxOutputTokens !== undefined),
    ...unsupported("reasoning", reasoning !== undefined && reasoning !== "provider-default"),
    ...unsupported("headers", addsHeaders),
    ...unsupported("providerOptions", Object.keys(providerOptions).length > 0),
    ...(isText || typeof state !== "string" ? [] : [writtenAsText]),
  ];
}

const writtenAsText: DecisionWarning = {
  type: "compatibility",
  feature: "state",
  details:
    "The evaluation model reads one text or one JSON object; the parts were sent as one text.",
};

function unsupported(feature: string, isGiven: boolean): DecisionWarning[] {
  const details = "Set it where the evaluator is made, if its transport has it.";
  return isGiven ? [{ type: "unsupported", feature, details }] : [];
}
