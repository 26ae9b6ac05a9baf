import type { EmulatorContext } from "../emulator-context.ts";
import { VendorError } from "./vendor-error.ts";

/**
 * Checks the key of a direct call; an emulator that was given no keys asks for none,
 * as self-hosted servers of this API do (field fact).
 *
 * @throws {VendorError} 403 without a key, 401 with a wrong one.
 */
export function requireVendorKey(headers: Headers, { accounts }: EmulatorContext): void {
  if (!accounts.isRestricted) return;
  const key = /^Bearer (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (key === undefined) throw new VendorError(403, "Not authenticated");
  if (accounts.find(key) === null) throw new VendorError(401, "Invalid API key");
}
