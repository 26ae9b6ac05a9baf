import { Hono } from "hono";
import { endpointEntry, modelEntry, providerEntry } from "../catalog/model-entry.ts";
import { findModel } from "../catalog/find-model.ts";
import { models } from "../catalog/models.ts";
import { toDollarString } from "../catalog/price.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { UnreadableBody } from "../server/read-json.ts";
import { modelNotFound, requireAccount } from "./check-gateway-call.ts";
import { evaluationRoute } from "./evaluation-route.ts";
import { GatewayError } from "./gateway-error.ts";
import { generationEntry } from "./generation-entry.ts";
import { languageRoute } from "./language-route.ts";

/** The gateway: its model endpoints and its host-root endpoints (contract sections 4.1 to 4.4). */
export function gatewayApp(context: EmulatorContext): Hono {
  const app = new Hono();
  app.onError((error) => toGatewayError(error).toResponse());
  app.notFound(() => notFound("The gateway has no such address.").toResponse());

  app.post("/v4/ai/evaluation-model", ({ req }) =>
    evaluationRoute(req.raw, "evaluation-model", context),
  );
  app.post("/v4/ai/decision-model", ({ req }) =>
    evaluationRoute(req.raw, "decision-model", context),
  );
  app.post("/v4/ai/language-model", ({ req }) => languageRoute(req.raw, context));

  app.get("/v4/ai/config", (c) => c.json({ models: models.map(providerEntry) }));
  app.get("/v1/models", (c) => c.json({ object: "list", data: models.map(modelEntry) }));
  app.get("/v1/models/:creator/:model/endpoints", (c) => {
    const id = `${c.req.param("creator")}/${c.req.param("model")}`;
    const model = findModel(id);
    if (model === null) throw modelNotFound(id);
    return c.json({ data: endpointEntry(model) });
  });
  app.get("/v1/credits", (c) => {
    const { balance, totalUsed } = requireAccount(c.req.raw.headers, context);
    return c.json({ balance: toDollarString(balance), total_used: toDollarString(totalUsed) });
  });
  app.get("/v1/generation", (c) => {
    requireAccount(c.req.raw.headers, context);
    const generation = context.generations.find(c.req.query("id") ?? "");
    if (generation === null) throw notFound("The gateway knows no such generation.");
    return c.json({ data: generationEntry(generation) });
  });
  return app;
}

function toGatewayError(error: Error): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof UnreadableBody) {
    const details = { status: error.status, type: "invalid_request_error" };
    return new GatewayError(error.message, details);
  }
  const details = { status: 500, type: "internal_server_error" };
  return new GatewayError("The emulator failed; this is a defect of the emulator.", details);
}

function notFound(message: string): GatewayError {
  return new GatewayError(message, { status: 404, type: "not_found" });
}
