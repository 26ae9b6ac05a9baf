import { ConfigurationError } from "evaluator-client";
import { StartError } from "./start-error.ts";

/** The one line for a person whose settings cannot work; any other error is thrown on. */
export function describeStartFailure(error: unknown): string {
  const isExpected = error instanceof StartError || error instanceof ConfigurationError;
  if (!isExpected) throw error;
  return `${error.message}\n`;
}
