import { Hono } from "hono";
import type { EmulatorContext } from "./emulator-context.ts";
import { gatewayApp } from "./gateway/gateway-app.ts";
import { vendorApp } from "./vendor/vendor-app.ts";

/** Both sides behind one address: the vendor's paths go to the vendor, all others to the gateway. */
export function emulatorApp(context: EmulatorContext): Hono {
  const gateway = gatewayApp(context);
  const vendor = vendorApp(context);
  const app = new Hono();
  app.all("/direct/*", ({ req }) => vendor.fetch(req.raw));
  app.all("/v1/systemone", ({ req }) => vendor.fetch(req.raw));
  app.all("*", ({ req }) => gateway.fetch(req.raw));
  return app;
}
