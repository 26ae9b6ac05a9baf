import type { Experimental_DecisionModel } from "ai";

/** A decision model as the `ai` package takes it; experimental there, so its version is pinned. */
export type DecisionModel = Extract<Experimental_DecisionModel, { doDecide: unknown }>;
/** What the `ai` package asks of a decision model. */
export type DecisionCall = Parameters<DecisionModel["doDecide"]>[0];
/** What a decision model answers. */
export type DecisionResult = Awaited<ReturnType<DecisionModel["doDecide"]>>;
/** One question as the `ai` package asks it. */
export type DecisionQuestion = DecisionCall["questions"][string];
/** One part of the state. */
export type DecisionStatePart = DecisionCall["state"][number];
/** Something of a call that was not done as asked. */
export type DecisionWarning = DecisionResult["warnings"][number];
