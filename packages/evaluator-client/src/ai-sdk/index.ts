export { toDecisionModel, type DecisionModelOptions } from "./to-decision-model.ts";
