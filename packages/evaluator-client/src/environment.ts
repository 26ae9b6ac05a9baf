/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables this package reads when an option is not given. */
export const environmentNames = {
  transport: "EVALUATOR_TRANSPORT",
  modelId: "EVALUATOR_MODEL_ID",
  gatewayApiKey: "AI_GATEWAY_API_KEY",
  gatewayBaseUrl: "EVALUATOR_BASE_URL",
  directApiKey: "EVALUATOR_DIRECT_API_KEY",
  directBaseUrl: "EVALUATOR_DIRECT_BASE_URL",
  logprobsApiKey: "EVALUATOR_LOGPROBS_API_KEY",
  logprobsBaseUrl: "EVALUATOR_LOGPROBS_BASE_URL",
} as const;

/** The environment of the running program; empty where there is none, as in a browser. */
export function programEnvironment(): Environment {
  return globalThis.process?.env ?? {};
}
