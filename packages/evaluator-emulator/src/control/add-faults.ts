import { checkFaults } from "../faults/check-faults.ts";
import type { FaultBook } from "../faults/fault-book.ts";
import type { Call } from "../server/call.ts";
import { readJson } from "../server/read-json.ts";

/**
 * Adds the fault, or the list of faults, of the body.
 *
 * @throws {RangeError} names the fault and the field.
 */
export async function addFaults(call: Call, faults: FaultBook): Promise<void> {
  const body = await readJson(call);
  faults.add(checkFaults(Array.isArray(body) ? body : [body]));
}
