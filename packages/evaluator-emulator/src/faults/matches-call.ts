import { isAnswerFault, type Fault } from "./fault.ts";

const evaluationPattern = /\/(?:evaluation-model|decision-model|systemone)$/;

/** Whether a fault is meant for calls to this path. */
export function matchesCall(fault: Fault, path: string): boolean {
  if (isAnswerFault(fault) && !evaluationPattern.test(path)) return false;
  if (fault.path === undefined) return true;
  return fault.path.endsWith("*") ? path.startsWith(fault.path.slice(0, -1)) : path === fault.path;
}
