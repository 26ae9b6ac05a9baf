import type { SharedV4Warning } from "@ai-sdk/provider";
import type { ReplySettings } from "../conversation/conversation.ts";
import { lostSetting } from "../conversation/to-call-options.ts";
import { refusalBy } from "../reply/passed-request.ts";
import type { Target } from "../reply/upstream.ts";
import type { ApiRequest } from "./api.ts";
import { asksForNothing, invalidField, toObject } from "./parse-body.ts";

type FieldNames = Readonly<Record<string, readonly string[]>>;

/** The APIs' fields for the providers' names of settings. */
const fieldsOf: FieldNames & Readonly<Record<keyof ReplySettings, readonly string[]>> = {
  stopSequences: ["stop", "stop_sequences"],
  responseFormat: ["response_format", "text.format", "output_config.format", "output_format"],
  temperature: ["temperature"],
  topP: ["top_p"],
  topK: ["top_k"],
  seed: ["seed"],
  frequencyPenalty: ["frequency_penalty"],
  presencePenalty: ["presence_penalty"],
  maxOutputTokens: ["max_tokens", "max_completion_tokens", "max_output_tokens"],
  reasoning: ["reasoning_effort", "reasoning", "thinking", "output_config.effort"],
  reasoningEffort: ["reasoning_effort", "reasoning"],
  reasoningSummary: ["reasoning.summary"],
  toolChoice: ["tool_choice"],
  strict: ["tools.strict"],
};

/** Returns the fields of a body that a provider's warnings name. */
export function warnedFields(
  warnings: readonly SharedV4Warning[],
  requestBody: ApiRequest["body"],
): readonly string[] {
  const features = warnings.flatMap((each) => (each.type === "unsupported" ? each.feature : []));
  return [...new Set(features.flatMap((feature) => fieldIn(requestBody, feature) ?? []))];
}

/** Returns the field that sets a feature; undefined if the body leaves it to the model. */
function fieldIn(body: ApiRequest["body"], feature: string): string | undefined {
  const fieldNames = Object.hasOwn(fieldsOf, feature) ? (fieldsOf[feature] ?? []) : [];
  return fieldNames.find((name) => {
    if (name === "tools.strict") return JSON.stringify(body["tools"] ?? []).includes('"strict"');
    const fieldValue = name.split(".").reduce((inner: unknown, key) => toObject(inner)[key], body);
    return fieldValue !== undefined && !asksForNothing(fieldValue);
  });
}

/** Returns the fields without an effect in a translated request. */
export function ignoredBy(
  { upstream, model }: Target,
  { conversation, unread }: ApiRequest,
): readonly string[] {
  const isSerial = conversation.providerOptions["openai"]?.["parallelToolCalls"] === false;
  // At the gateway, only models of OpenAI and Anthropic support it.
  const isLost = isSerial && upstream.type === "gateway" && !/^(?:openai|anthropic)\//.test(model);
  return isLost ? [...unread, "parallel_tool_calls"] : unread;
}

const settingAdvice = {
  stopSequences: "a reply of this service does not stop there; leave it out",
  responseFormat: "this service needs a schema; use json_schema",
};

/** @throws HttpError (400) for a field without which the reply of a translated request is another one. */
export function checkSettings(
  { upstream, model }: Target,
  { conversation, body }: ApiRequest,
): void {
  const lostName = lostSetting(conversation, upstream.type, model);
  if (lostName === null) return;
  const problem = invalidField({
    path: [fieldIn(body, lostName) ?? lostName],
    message: settingAdvice[lostName],
  });
  throw refusalBy([upstream.name], problem);
}
