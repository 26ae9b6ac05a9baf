import type { EmulatorContext } from "./emulator-context.ts";
import { gateway } from "./gateway/gateway.ts";
import type { Handler } from "./server/reply.ts";
import { isVendorPath } from "./vendor/is-vendor-path.ts";
import { vendor } from "./vendor/vendor.ts";

/** Both sides behind one address: the vendor's paths go to the vendor, all others to the gateway. */
export function bothSides(context: EmulatorContext): Handler {
  const toGateway = gateway(context);
  const toVendor = vendor(context);
  return (call) => (isVendorPath(call.path) ? toVendor(call) : toGateway(call));
}
