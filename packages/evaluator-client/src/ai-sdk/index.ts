export type { DecisionModel } from "./from-decision-call.ts";
export { toDecisionModel, type DecisionModelOptions } from "./to-decision-model.ts";
