import { parseJson } from "evaluator-kit";
import type { UpstreamType } from "../conversation/to-call-options.ts";

interface LimitedCall {
  readonly type: UpstreamType;
  readonly model: string;
  /** The most tokens of the reply with its thinking; absent for none. */
  readonly most?: number | undefined;
}

/** Writes the limit of a reply's tokens in the form that a service and its model take. */
export function limitOutput(
  init: RequestInit | undefined,
  { type, model, most }: LimitedCall,
): RequestInit | undefined {
  if (type === "anthropic" && most !== undefined) return limitThinking(init, most);
  if (type !== "openai-chat") return init;
  if (thinkingModels.test(model)) return renameLimit(init, "max_tokens", "max_completion_tokens");
  return strictModels.test(model) ? renameLimit(init, "max_completion_tokens", "max_tokens") : init;
}

/** Models of OpenAI's chat API that refuse `max_tokens`. */
const thinkingModels = /(?:^|\/)(?:o\d|gpt-[5-9])/;

/** Models of Mistral, whose API knows `max_tokens` alone and refuses other fields. */
const strictModels = /(?:^|\/)(?:mi[sx]tral|ministral|magistral|codestral|devstral|pixtral)/;

function renameLimit(
  init: RequestInit | undefined,
  from: string,
  to: string,
): RequestInit | undefined {
  const text = init?.body;
  if (typeof text !== "string" || !text.includes(`"${from}"`)) return init;
  const { [from]: limit, ...body } = parseJson(text) as Record<string, unknown>;
  if (limit === undefined || limit === null) return init;
  return { ...init, body: JSON.stringify({ [to]: limit, ...body }) };
}

/** Keeps thinking within a limit of tokens: Anthropic's provider adds its budget, 1024 or more, to the limit. */
function limitThinking(init: RequestInit | undefined, most: number): RequestInit | undefined {
  const { thinking, ...body } = parseJson(init?.body as string) as Record<string, object>;
  const given = Number(Object(thinking).budget_tokens);
  const budget_tokens = Math.min(given, Math.floor(most / 2));
  const limited = budget_tokens >= 1024 && { thinking: { ...thinking, budget_tokens } };
  const text = JSON.stringify({ ...body, max_tokens: most, ...limited });
  return given > 0 ? { ...init, body: text } : init;
}

const limitNames = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/** Returns the limits of a body that pass the most output of a model, which services refuse, cut to it. */
export function cutLimits(body: Readonly<Record<string, unknown>>, most = Infinity) {
  const over = limitNames.filter((name) => Number(body[name]) > most);
  return Object.fromEntries(over.map((name) => [name, most]));
}
