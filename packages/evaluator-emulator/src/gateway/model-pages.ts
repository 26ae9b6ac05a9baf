import { findModel } from "../catalog/find-model.ts";
import { endpointEntry, modelEntry } from "../catalog/model-entry.ts";
import { models } from "../catalog/models.ts";
import type { Call } from "../server/call.ts";
import { jsonReply, type Reply } from "../server/reply.ts";
import { modelNotFound } from "./check-gateway-call.ts";

const endpointsPattern = /^\/v1\/models\/([^/]+\/[^/]+)\/endpoints$/;

/** The price list, which needs no key (contract section 4.2). */
export function modelList(): Reply {
  return jsonReply({ object: "list", data: models.map(modelEntry) });
}

/**
 * The endpoints of one model (contract section 4.3), or null when another address was called.
 *
 * @throws {GatewayError} 404 for an unknown model.
 */
export function modelEndpoints({ method, path }: Call): Reply | null {
  const id = endpointsPattern.exec(path)?.[1];
  if (id === undefined || method !== "GET") return null;
  const model = findModel(id);
  if (model === null) throw modelNotFound(id);
  return jsonReply({ data: endpointEntry(model) });
}
