import type { EmulatorContext } from "../emulator-context.ts";
import { bearerKey } from "../server/bearer-key.ts";
import type { Call } from "../server/call.ts";
import { VendorError } from "./vendor-error.ts";

/**
 * Checks the key of a direct call; an emulator that was given no keys asks for none,
 * as self-hosted servers of this API do (field fact).
 *
 * @throws {VendorError} 403 without a key, 401 with a wrong one.
 */
export function requireVendorKey(call: Call, { accounts }: EmulatorContext): void {
  if (!accounts.isRestricted) return;
  const key = bearerKey(call);
  if (key === null) throw new VendorError(403, "Not authenticated");
  if (accounts.find(key) === null) throw new VendorError(401, "Invalid API key");
}
