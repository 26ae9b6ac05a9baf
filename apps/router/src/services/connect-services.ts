import type { GatewayOptions } from "../options/router-options.ts";
import { emulatorServices } from "./emulator-services.ts";
import { gatewayServices } from "./gateway-services.ts";
import type { Services } from "./services.ts";

/** The gateway's services, or the emulator's where there is no gateway. */
export function connectServices(gateway: GatewayOptions | null): Services {
  globalThis.AI_SDK_LOG_WARNINGS = false; // the `ai` package would print them on the console
  return gateway === null ? emulatorServices() : gatewayServices(gateway);
}
