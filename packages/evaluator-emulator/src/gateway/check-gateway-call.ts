import type { Account } from "../accounts/account.ts";
import { bearerKey } from "../server/bearer-key.ts";
import type { Call } from "../server/call.ts";
import { findModel } from "../catalog/find-model.ts";
import type { CatalogModel } from "../catalog/models.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { GatewayError, invalidRequest } from "./gateway-error.ts";

const protocolVersion = "0.0.1";
const specificationVersion = "4";

/** What one model endpoint asks of its headers. */
export interface GatewayEndpoint {
  readonly specificationHeader: string;
  readonly modelHeader: string;
  readonly modelType: CatalogModel["type"];
}

/** A call whose headers are right. */
export interface GatewayCall {
  readonly account: Account;
  readonly model: CatalogModel;
}

/**
 * Checks the headers of a model call (contract section 4.1).
 *
 * @throws {GatewayError} 401 for the key, 404 for an unknown model, else 400.
 */
export function checkGatewayCall(
  call: Call,
  endpoint: GatewayEndpoint,
  context: EmulatorContext,
): GatewayCall {
  const account = requireAccount(call, context);
  requireHeader(call, "ai-gateway-protocol-version", protocolVersion);
  requireHeader(call, "ai-gateway-auth-method", "api-key");
  requireHeader(call, endpoint.specificationHeader, specificationVersion);
  if (!/^application\/json\s*(?:;|$)/i.test(call.header("content-type") ?? "")) {
    throw invalidRequest("The header content-type must be application/json.");
  }
  return { account, model: requireModel(call, endpoint) };
}

/**
 * The account of the caller's key.
 *
 * @throws {GatewayError} 401 when the key is missing or not accepted.
 */
export function requireAccount(call: Call, { accounts }: EmulatorContext): Account {
  const key = bearerKey(call);
  const account = key === null ? null : accounts.find(key);
  if (account !== null) return account;
  const message = key === null ? "No API key was given." : "The API key is not valid.";
  throw new GatewayError(message, { status: 401, type: "authentication_error" });
}

function requireHeader({ header }: Call, name: string, expected: string): void {
  if (header(name) === expected) return;
  throw invalidRequest(`The header ${name} must be ${expected}.`);
}

function requireModel({ header }: Call, { modelHeader, modelType }: GatewayEndpoint): CatalogModel {
  const modelId = header(modelHeader);
  if (modelId === null || modelId === "") {
    throw invalidRequest(`The header ${modelHeader} is missing.`);
  }
  const model = findModel(modelId);
  if (model === null) throw modelNotFound(modelId);
  if (model.type === modelType) return model;
  throw invalidRequest(`The model ${model.id} is not of type ${modelType}.`);
}

/** A 404: the price list has no such model. */
export function modelNotFound(modelId: string): GatewayError {
  const details = { status: 404, type: "model_not_found", param: { modelId } };
  return new GatewayError("Model not found; the emulator knows those of /v1/models.", details);
}
