import { isRecord } from "evaluator-kit";

/** Fields of a service's reply that no form knows; they pass. */
interface OtherFields {
  readonly body: Readonly<Record<string, unknown>>;
  readonly usage: Readonly<Record<string, unknown>>;
}

const knownNames = {
  body: new Set(
    "model answers usage rounding warnings providerMetadata prompt_feedback".split(" "),
  ),
  usage: new Set(
    "input_tokens output_tokens total_tokens total_input_tokens total_output_tokens inputTokens outputTokens cost".split(
      " ",
    ),
  ),
};

/** Returns the unknown fields of a reply: those of its body, which may be in an envelope, and of its usage. */
export function otherFields(raw: unknown): OtherFields {
  const body = isRecord(raw) && "success" in raw && isRecord(raw["result"]) ? raw["result"] : raw;
  if (!isRecord(body)) return { body: {}, usage: {} };
  return { body: rest(body, knownNames.body), usage: rest(body["usage"], knownNames.usage) };
}

function rest(allFields: unknown, namesToLeave: ReadonlySet<string>): Record<string, unknown> {
  if (!isRecord(allFields)) return {};
  return Object.fromEntries(Object.entries(allFields).filter(([name]) => !namesToLeave.has(name)));
}
