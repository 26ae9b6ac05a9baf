import { providerEntry } from "../catalog/model-entry.ts";
import { models } from "../catalog/models.ts";
import { toDollarString } from "../catalog/price.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { jsonReply, type Handler } from "../server/reply.ts";
import { routeTable } from "../server/route-table.ts";
import { UnreadableBody } from "../server/unreadable-body.ts";
import { requireAccount } from "./check-gateway-call.ts";
import { evaluationRoute } from "./evaluation-route.ts";
import { GatewayError } from "./gateway-error.ts";
import { generationEntry } from "./generation-entry.ts";
import { languageRoute } from "./language-route.ts";
import { modelEndpoints, modelList } from "./model-pages.ts";

/** The gateway: its model endpoints and its host-root endpoints (contract sections 4.1 to 4.4). */
export function gateway(context: EmulatorContext): Handler {
  const answer = routeTable(
    {
      "POST /v4/ai/evaluation-model": (call) => evaluationRoute(call, "evaluation-model", context),
      "POST /v4/ai/decision-model": (call) => evaluationRoute(call, "decision-model", context),
      "POST /v4/ai/language-model": (call) => languageRoute(call, context),
      "GET /v4/ai/config": () => jsonReply({ models: models.map(providerEntry) }),
      "GET /v1/models": modelList,
      "GET /v1/credits": creditsRoute(context),
      "GET /v1/generation": generationRoute(context),
    },
    (call) => modelEndpoints(call) ?? notFound("The gateway has no such address.").toReply(),
  );
  return async (call) => {
    try {
      return await answer(call);
    } catch (error) {
      return toGatewayError(error).toReply();
    }
  };
}

function creditsRoute(context: EmulatorContext): Handler {
  return (call) => {
    const { balance, totalUsed } = requireAccount(call, context);
    return jsonReply({
      balance: toDollarString(balance),
      total_used: toDollarString(totalUsed),
    });
  };
}

function generationRoute(context: EmulatorContext): Handler {
  return (call) => {
    requireAccount(call, context);
    const generation = context.generations.find(call.query.get("id") ?? "");
    if (generation === null) throw notFound("The gateway knows no such generation.");
    return jsonReply({ data: generationEntry(generation) });
  };
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
