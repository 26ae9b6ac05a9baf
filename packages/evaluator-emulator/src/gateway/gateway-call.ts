import { z } from "zod";
import {
  type Account,
  chargeAccount,
  type FreeTierProblem,
  meetFreeTierWall,
} from "../accounts.ts";
import { type CatalogModel, findModel } from "../catalog/models.ts";
import { type CallTokens, costOfCall, toDollarString } from "../catalog/price.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { answeredRouting, rejectedRouting } from "../generations.ts";
import type { Attribution } from "../spend-report.ts";
import { bearerKey, type Call } from "../call.ts";
import { GatewayError, type GatewayErrorDetails, invalidRequest } from "./gateway-error.ts";

const protocolVersion = "0.0.1";
const specificationVersion = "4";

/** What one model endpoint asks of its headers. */
interface GatewayEndpoint {
  readonly specificationHeader: string;
  readonly modelHeader: string;
  readonly modelType: CatalogModel["type"];
}

/** A call whose headers are right. */
type GatewayCall = ReturnType<typeof checkGatewayCall>;

/**
 * Checks the headers of a model call (contract section 4.1).
 *
 * @throws {GatewayError} 401 for the key, 404 for an unknown model, else 400.
 */
export function checkGatewayCall(call: Call, endpoint: GatewayEndpoint, context: EmulatorContext) {
  const account = requireAccount(call, context);
  requireHeader(call, "ai-gateway-protocol-version", protocolVersion);
  requireHeader(call, "ai-gateway-auth-method", "api-key");
  requireHeader(call, endpoint.specificationHeader, specificationVersion);
  if (!/^application\/json\s*(?:;|$)/i.test(call.req.header("content-type") ?? "")) {
    throw invalidRequest("The header content-type must be application/json.");
  }
  return { account, model: requireModel(call, endpoint) };
}

/**
 * Returns the account of the caller's key.
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

function requireHeader({ req }: Call, name: string, expected: string): void {
  if (req.header(name) === expected) return;
  throw invalidRequest(`The header ${name} must be ${expected}.`);
}

function requireModel({ req }: Call, { modelHeader, modelType }: GatewayEndpoint): CatalogModel {
  const modelId = req.header(modelHeader) ?? "";
  if (modelId === "") {
    throw invalidRequest(`The header ${modelHeader} is missing.`);
  }
  const model = findModel(modelId);
  if (model === null) throw modelNotFound(modelId);
  if (model.type === modelType) return model;
  throw invalidRequest(`The model ${model.id} is not of type ${modelType}.`);
}

/** Returns a 404: the price list has no such model. */
export function modelNotFound(modelId: string): GatewayError {
  const details = { status: 404, type: "model_not_found", param: { modelId } };
  return new GatewayError("Model not found; the emulator knows those of /v1/models.", details);
}

// The contract shows the messages; status and type of `no-access` are unverified.
const freeTierErrors = {
  "no-access": {
    message: "Free tier users do not have access to this model. Upgrade to paid credits to use it.",
    details: {
      status: 403,
      type: "no_providers_available",
      param: { statusCode: 403, name: "RestrictedModelsError" },
    },
  },
  "rate-limited": {
    message:
      "Free tier requests on this model are rate-limited. Upgrade to paid credits to remove the limit.",
    details: { status: 429, type: "rate_limit_exceeded" },
  },
} satisfies Record<FreeTierProblem, { message: string; details: GatewayErrorDetails }>;

/**
 * Lets a call through to its model, or not (contract sections 3 and 7).
 *
 * @throws {GatewayError} 402 without credits, 403 or 429 at the free tier's wall.
 */
export function admitCall({ account, model }: GatewayCall, context: EmulatorContext): void {
  if (account.balance <= 0) {
    const details = { status: 402, type: "insufficient_funds" };
    throw new GatewayError("The account has no credits left.", details);
  }
  const problem = meetFreeTierWall(account, model, context.clock());
  if (problem === null) return;
  const { message, details } = freeTierErrors[problem];
  const route = { modelId: model.id, canonicalSlug: model.id, provider: model.provider };
  throw new GatewayError(message, {
    ...details,
    generationId: `gen_${context.nextId()}`,
    providerMetadata: { gateway: { routing: rejectedRouting(route) } },
  });
}

const attributionSchema = z.object({
  providerOptions: z.object({
    gateway: z.object({ user: z.string().default(""), tags: z.array(z.string()).default([]) }),
  }),
});

/** Returns whom a body's `providerOptions.gateway` counts its call under; nobody where it is silent. */
export function readAttribution(body: unknown): Attribution {
  const { data } = attributionSchema.safeParse(body);
  return data?.providerOptions.gateway ?? { user: "", tags: [] };
}

/** An answered call that is not yet paid for. */
interface AnsweredCall extends CallTokens {
  /** What answered. */
  readonly canonicalSlug: string;
  readonly provider: string;
  readonly isStreamed: boolean;
  readonly attribution: Attribution;
  /** Epoch milliseconds. */
  readonly startTime: number;
}

/**
 * Charges an answered call, notes it for `GET /v1/generation`, and returns the gateway's block of
 * provider metadata (contract section 2.5). The price is in `marketCost`; `cost` is `0`, as
 * observed.
 */
export function settleCall(
  { account, model }: GatewayCall,
  answered: AnsweredCall,
  context: EmulatorContext,
) {
  const { canonicalSlug, provider, startTime } = answered;
  const endTime = context.clock();
  const marketCost = costOfCall(model, answered);
  const id = `gen_${context.nextId()}`;
  chargeAccount(account, marketCost);
  context.generations.add({ ...answered, id, model: model.id, marketCost, endTime });
  context.spending.add({
    account: account.number,
    model: model.id,
    provider,
    marketCost,
    startTime,
    attribution: answered.attribution,
    inputTokens: answered.inputTokens,
    outputTokens: answered.outputTokens,
  });
  return {
    routing: answeredRouting({ modelId: model.id, canonicalSlug, provider, startTime, endTime }),
    cost: "0",
    marketCost: toDollarString(marketCost),
    surchargeCost: "0",
    gatewayCost: "0",
    generationId: id,
  };
}
