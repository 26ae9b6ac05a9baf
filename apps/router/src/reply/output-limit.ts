import { parseJson } from "evaluator-kit";
import type { UpstreamType } from "../conversation/upstream-types.ts";

interface LimitedCall {
  readonly type: UpstreamType;
  readonly model: string;
  /** The most tokens of the reply with its thinking; absent for none. */
  readonly most?: number | undefined;
}

/** Writes the limit of a reply's tokens into a body, in the form that a service and its model take. */
export function limitOutput(body: string, { type, ...call }: LimitedCall): string {
  return limits[type].write?.(body, call) ?? body;
}

interface OutputLimit {
  /** Absent if a body has its limit already. */
  readonly write?: (body: string, call: Omit<LimitedCall, "type">) => string;
  /** The fields of a client's body with a limit. */
  readonly names: readonly string[];
}

const limits: Readonly<Record<UpstreamType, OutputLimit>> = {
  gateway: { names: [] },
  "openai-chat": { write: limitChat, names: ["max_tokens", "max_completion_tokens"] },
  "openai-responses": { names: ["max_output_tokens"] },
  anthropic: {
    write: (body, { most }) => (most === undefined ? body : limitThinking(body, most)),
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

function renameLimit(text: string, from: string, to: string): string {
  if (!text.includes(`"${from}"`)) return text;
  const { [from]: limit, ...body } = parseJson(text) as Record<string, unknown>;
  return limit === undefined || limit === null ? text : JSON.stringify({ [to]: limit, ...body });
}

/** Keeps thinking within a limit of tokens: Anthropic's provider adds its budget, 1024 or more, to the limit. */
function limitThinking(text: string, most: number): string {
  const { thinking, ...body } = parseJson(text) as Record<string, object>;
  const budget = Number(Object(thinking).budget_tokens);
  const budget_tokens = Math.min(budget, Math.floor(most / 2));
  const thinkingField = budget_tokens >= 1024 && { thinking: { ...thinking, budget_tokens } };
  return budget > 0 ? JSON.stringify({ ...body, max_tokens: most, ...thinkingField }) : text;
}

const limitNames = [...new Set(Object.values(limits).flatMap(({ names }) => names))];

/** Returns the limits of a body that pass the most output of a model, which services refuse, cut to it. */
export function cutLimits(body: Readonly<Record<string, unknown>>, most = Infinity) {
  const over = limitNames.filter((name) => Number(body[name]) > most);
  return Object.fromEntries(over.map((name) => [name, most]));
}
