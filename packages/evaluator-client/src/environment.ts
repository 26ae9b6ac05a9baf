/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variable of the key of each transport with its own variables. */
export const ownKeyVariables = {
  gateway: "AI_GATEWAY_API_KEY",
  direct: "EVALUATOR_DIRECT_API_KEY",
  logprobs: "EVALUATOR_LOGPROBS_API_KEY",
} as const;

/** The name of a transport with its own variables. */
export type OwnTransportName = keyof typeof ownKeyVariables;

/** The variable of each transport's address; services have none. */
export const baseUrlVariables: Readonly<Record<OwnTransportName, string>> = {
  gateway: "EVALUATOR_BASE_URL",
  direct: "EVALUATOR_DIRECT_BASE_URL",
  logprobs: "EVALUATOR_LOGPROBS_BASE_URL",
};
/** The variable of the model, whichever transport asks it. */
export const modelVariable = "EVALUATOR_MODEL_ID";

/** The variable of the level of log lines. */
export const logVariable = "EVALUATOR_LOG";

/** Returns the environment of the running program; empty in a browser. */
export function programEnvironment(): Environment {
  return globalThis.process?.env ?? {};
}
