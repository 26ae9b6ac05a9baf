import { Option } from "evaluator-kit";

/** How each kind of engine is typed, and which service it reaches. */
export const engineForms = {
  gateway: ["[=URL][@MODEL]", "the evaluation model behind the AI gateway"],
  direct: ["[=URL][@MODEL]", "the vendor's API, or a server that serves POST /v1/systemone"],
  decisions: ["=URL@MODEL", "a server that serves POST /v1/decisions"],
  logprobs: ["=URL@MODEL", "a chat server that gives log-probabilities"],
} as const;

/** The servers that `server=` names. */
export const serverNames = ["openai", "vllm", "llama.cpp", "sglang", "ollama"] as const;

const lines = Object.entries(engineForms).map(
  ([kind, [address, service]]) => `  ${(kind + address).padEnd(26)}${service}`,
);

/** The part of a command's help that describes `--engine`. */
export const engineHelp = `
Engines
${lines.join("\n")}
  Missing parts come from the environment, as in the client, and so do the keys:
  AI_GATEWAY_API_KEY, EVALUATOR_DIRECT_API_KEY (direct, decisions),
  EVALUATOR_LOGPROBS_API_KEY. After a comma: key=VARIABLE (another variable), key=none,
  price=USD (of a million input tokens, logprobs), debias=raw,
  server=${serverNames.join("|")}.
`;

export const engineOption = new Option(
  "--engine <engine>",
  "who answers (default: EVALUATOR_TRANSPORT, else gateway)",
);
