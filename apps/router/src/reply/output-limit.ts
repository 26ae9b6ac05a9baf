import { parseJson } from "evaluator-kit";
import type { UpstreamType } from "../conversation/upstream-types.ts";

interface LimitedCall {
  readonly type: UpstreamType;
  readonly model: string;
  /** The most tokens of the reply with its thinking; absent for none. */
  readonly most?: number | undefined;
}

/** Writes the limit of a reply's tokens into a body, in the form that a service and its model take. */
export function limitOutput(requestJson: string, { type, ...call }: LimitedCall): string {
  return limitsByType[type].write?.(requestJson, call) ?? requestJson;
}

interface OutputLimit {
  /** Absent if a body has its limit already. */
  readonly write?: (requestJson: string, call: Omit<LimitedCall, "type">) => string;
  /** The fields of a client's body with a limit. */
  readonly names: readonly string[];
}

const limitsByType: Readonly<Record<UpstreamType, OutputLimit>> = {
  gateway: { names: [] },
  "openai-chat": { write: limitChat, names: ["max_tokens", "max_completion_tokens"] },
  "openai-responses": { names: ["max_output_tokens"] },
  anthropic: {
    write: (bodyJson, { most }) => (most === undefined ? bodyJson : limitThinking(bodyJson, most)),
    names: ["max_tokens"],
  },
};

function limitChat(body: string, { model }: Pick<LimitedCall, "model">): string {
  if (thinkingModels.test(model)) return renameLimit(body, "max_tokens", "max_completion_tokens");
  return strictModels.test(model) ? renameLimit(body, "max_completion_tokens", "max_tokens") : body;
}

/** Models of OpenAI's chat API that refuse `max_tokens`. */
const thinkingModels = /(?:^|\/)(?:o\d|gpt-[5-9])/;

/** Models of Mistral, whose API knows `max_tokens` alone and refuses other fields. */
const strictModels = /(?:^|\/)(?:mi[sx]tral|ministral|magistral|codestral|devstral|pixtral)/;

function renameLimit(text: string, fromName: string, to: string): string {
  if (!text.includes(`"${fromName}"`)) return text;
  const { [fromName]: limit, ...body } = parseJson(text) as Record<string, unknown>;
  return limit === undefined || limit === null ? text : JSON.stringify({ [to]: limit, ...body });
}

/** Keeps thinking within a limit of tokens: Anthropic's provider adds its budget, 1024 or more, to the limit. */
function limitThinking(requestJson: string, most: number): string {
  const { thinking, ...body } = parseJson(requestJson) as Record<string, object>;
  const budget = Number(Object(thinking).budget_tokens);
  const budget_tokens = Math.min(budget, Math.floor(most / 2));
  const thinkingField = budget_tokens >= 1024 && { thinking: { ...thinking, budget_tokens } };
  return budget > 0 ? JSON.stringify({ ...body, max_tokens: most, ...thinkingField }) : requestJson;
}

const limitNames = [...new Set(Object.values(limitsByType).flatMap(({ names }) => names))];

/** Returns the limits of a body that pass the most output of a model, which services refuse, cut to it. */
export function cutLimits(requestBody: Readonly<Record<string, unknown>>, mostTokens = Infinity) {
  const namesOver = limitNames.filter((limitName) => Number(requestBody[limitName]) > mostTokens);
  return Object.fromEntries(namesOver.map((limitName) => [limitName, mostTokens]));
}
