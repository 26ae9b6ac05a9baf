import type { Evaluation, EvaluationRequest } from "../evaluation.ts";
import type { Transport } from "../transports/transport.ts";
import type { Watch } from "./watch.ts";

/** A call that begins. */
export interface TracedCall {
  readonly request: EvaluationRequest;
  /** The transport that sends it. */
  readonly transport: Transport;
}

/**
 * Runs around every call of an evaluator, batches included: it calls `run` once, with callbacks
 * for what happens meanwhile, and gives back its result or throws its error.
 */
export type Tracing = (
  call: TracedCall,
  run: (watch: Watch) => Promise<Evaluation>,
) => Promise<Evaluation>;
