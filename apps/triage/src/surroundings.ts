import type { Evaluator } from "evaluator-client";

/** What a run takes from the machine it is on. */
export interface Surroundings {
  /** Environment variables: those of `createEvaluator`, and `TRIAGE_USER_NAME`. */
  readonly env: Environment;
  /** The folder that typed paths are relative to. */
  readonly cwd: string;
  /** Where results go. */
  readonly stdout: TextSink;
  /** Where everything said about the run goes. */
  readonly stderr: TextSink;
  /** Ends the run with no results written. */
  readonly signal: AbortSignal;
  /** Gives the evaluator that answers. */
  readonly openEvaluator: (options: { offline: boolean; env: Environment }) => Evaluator;
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Somewhere text can be written to. */
interface TextSink {
  write(text: string): unknown;
}
