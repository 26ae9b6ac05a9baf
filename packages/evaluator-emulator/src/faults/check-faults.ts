import { describeIssue } from "../describe-issue.ts";
import { faultsSchema, type Fault } from "./fault.ts";

/**
 * Checks faults that came from outside.
 *
 * @throws {RangeError} names the fault and the field.
 */
export function checkFaults(faults: unknown): Fault[] {
  const { data, error } = faultsSchema.safeParse(faults);
  if (error !== undefined) throw new RangeError(describeIssue(error, "fault"));
  return data;
}
