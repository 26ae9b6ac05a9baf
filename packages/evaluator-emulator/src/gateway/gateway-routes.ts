import { Hono } from "hono";
import { type Call, type CallEnvironment, UnreadableBody } from "../call.ts";
import { endpointEntry, modelEntry, providerEntry } from "../catalog/model-entry.ts";
import { findModel, models } from "../catalog/models.ts";
import { toDollarString } from "../catalog/price.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { generationEntry } from "../generations.ts";
import { evaluationRoute } from "./evaluation-route.ts";
import { modelNotFound, requireAccount } from "./gateway-call.ts";
import { readSpendQuery } from "../spend-report.ts";
import { GatewayError, invalidRequest } from "./gateway-error.ts";
import { languageRoute } from "./language-route.ts";

/** Returns the gateway: its model endpoints and those at the host root (contract 4.1 to 4.4). */
export function gatewayRoutes(context: EmulatorContext): Hono<CallEnvironment> {
  const app = new Hono<CallEnvironment>();
  app.post("/v4/ai/evaluation-model", (call) => evaluationRoute(call, "evaluation-model", context));
  app.post("/v4/ai/decision-model", (call) => evaluationRoute(call, "decision-model", context));
  app.post("/v4/ai/language-model", (call) => languageRoute(call, context));
  app.get("/v4/ai/config", () => Response.json({ models: models.map(providerEntry) }));
  app.get("/v1/models", () =>
    Response.json({ object: "list", data: models.map((model) => modelEntry(model)) }),
  );
  app.get("/v1/models/:creator/:model/endpoints", (call) => {
    const { creator, model } = call.req.param();
    return endpointsOf(`${creator}/${model}`);
  });
  app.get("/v1/credits", (call) => credits(call, context));
  app.get("/v1/generation", (call) => generation(call, context));
  app.get("/v1/report", (call) => spendReport(call, context));
  app.all("*", () => notFound("The gateway has no such address.").toResponse());
  app.onError((error) => toGatewayError(error).toResponse());
  return app;
}

function endpointsOf(id: string): Response {
  const model = findModel(id);
  if (model === null) throw modelNotFound(id);
  return Response.json({ data: endpointEntry(model) });
}

function credits(call: Call, context: EmulatorContext): Response {
  const { balance, totalUsed } = requireAccount(call, context);
  return Response.json({
    balance: toDollarString(balance),
    total_used: toDollarString(totalUsed),
  });
}

function generation(call: Call, context: EmulatorContext): Response {
  requireAccount(call, context);
  const found = context.generations.find(call.req.query("id") ?? "");
  if (found === null) throw notFound("The gateway knows no such generation.");
  return Response.json({ data: generationEntry(found) });
}

function spendReport(call: Call, context: EmulatorContext): Response {
  const { number } = requireAccount(call, context);
  try {
    const query = readSpendQuery((name) => call.req.query(name));
    return Response.json({ results: context.spending.report(number, query) });
  } catch (error) {
    throw error instanceof RangeError ? invalidRequest(`Invalid request: ${error.message}`) : error;
  }
}

function toGatewayError(error: unknown): GatewayError {
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
