import { Hono } from "hono";
import type { EmulatorContext } from "../emulator-context.ts";
import { UnreadableBody } from "../server/read-json.ts";
import { systemOneRoute } from "./system-one-route.ts";
import { requireVendorKey } from "./require-vendor-key.ts";
import { vendorModels } from "./vendor-models.ts";
import { VendorError } from "./vendor-error.ts";

/** The vendor's direct API (contract section 4.5), under `/direct` and at the host root. */
export function vendorApp(context: EmulatorContext): Hono {
  const app = new Hono();
  app.onError((error) => toVendorError(error).toResponse());
  app.notFound(() => new VendorError(404, "Not Found").toResponse());
  app.use(async (c, next) => {
    await next();
    c.header("x-typesafe-request-id", `req_${context.nextId()}`);
  });

  app.on("POST", ["/direct/v1/systemone", "/v1/systemone"], ({ req }) =>
    systemOneRoute(req.raw, context),
  );
  app.get("/direct/v1/models", (c) => {
    requireVendorKey(c.req.raw.headers, context);
    return c.json({ models: vendorModels });
  });
  return app;
}

function toVendorError(error: Error): VendorError {
  if (error instanceof VendorError) return error;
  if (error instanceof UnreadableBody && error.status === 413) {
    return new VendorError(413, error.message);
  }
  if (error instanceof UnreadableBody) {
    const field = { loc: ["body"], msg: error.message, type: "json_invalid", input: null };
    return new VendorError(422, [field]);
  }
  return new VendorError(500, "The emulator failed; this is a defect of the emulator.");
}
