import * as z from "zod/mini";
import type { Judgement } from "../answers/judgement.ts";
import { type CatalogModel, findModel, toProvider, toDollarString } from "../catalog.ts";
import { bearerKey, type Call, type EmulatorContext } from "../call.ts";
import { gatewayError, RequestError } from "../request-error.ts";

const protocolVersion = "0.0.1";
const specificationVersion = "4";

type GatewayCall = ReturnType<typeof checkGatewayCall>;

/**
 * Checks the headers of a model call (contract section 4.1).
 *
 * @throws {RequestError} 401 for the key, 404 for an unknown model, else 400.
 */
export function checkGatewayCall(
  emulatedCall: Call,
  endpoint: "evaluation-model" | "decision-model" | "language-model",
  emulatorContext: EmulatorContext,
) {
  const startTime = emulatorContext.clock();
  const callerAccount = requireAccount(emulatedCall, emulatorContext);
  requireHeader(emulatedCall, "ai-gateway-protocol-version", protocolVersion);
  requireHeader(emulatedCall, "ai-gateway-auth-method", "api-key");
  requireHeader(emulatedCall, `ai-${endpoint}-specification-version`, specificationVersion);
  if (!/^application\/json\s*(?:;|$)/i.test(emulatedCall.header("content-type") ?? "")) {
    throw new RequestError("The header content-type must be application/json.");
  }
  const catalogModel =
    endpoint === "language-model"
      ? requireModel(emulatedCall, "ai-language-model-id", "language")
      : requireModel(emulatedCall, "ai-model-id", "evaluation");
  return { account: callerAccount, model: catalogModel, startTime };
}

/** Returns the account of the caller's key. @throws {RequestError} 401 if it is missing or not accepted. */
export function requireAccount(emulatedCall: Call, { accounts }: EmulatorContext) {
  const accountKey = bearerKey(emulatedCall);
  const callerAccount = accounts.find(accountKey);
  if (callerAccount !== null) return callerAccount;
  const message = accountKey === null ? "No API key was given." : "The API key is not valid.";
  throw gatewayError(message, { status: 401, type: "authentication_error" });
}

function requireHeader(emulatedCall: Call, headerName: string, expectedText: string): void {
  if (emulatedCall.header(headerName) === expectedText) return;
  throw new RequestError(`The header ${headerName} must be ${expectedText}.`);
}

function requireModel(
  emulatedCall: Call,
  header: string,
  type: CatalogModel["type"],
): CatalogModel {
  const modelId = emulatedCall.header(header) ?? "";
  if (modelId === "") throw new RequestError(`The header ${header} is missing.`);
  const catalogModel = findModel(modelId);
  if (catalogModel.type === type) return catalogModel;
  throw new RequestError(`The model ${catalogModel.id} is not of type ${type}.`);
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
} as const;

/**
 * Checks credits and tier before a call (contract sections 3 and 7).
 *
 * @throws {RequestError} 402 without credits, 403 or 429 for the limits of the free tier.
 */
export function admitCall({ account, model }: GatewayCall, emulatorContext: EmulatorContext): void {
  if (account.balance <= 0) {
    const details = { status: 402, type: "insufficient_funds" };
    throw gatewayError("The account has no credits left.", details);
  }
  const rejection = account.rejectionOf(model, emulatorContext.clock());
  if (rejection === null) return;
  const { message, details } = freeTierErrors[rejection];
  const routedMessage = routing(model, null, []);
  throw gatewayError(message, {
    ...details,
    generationId: `gen_${emulatorContext.nextId()}`,
    providerMetadata: { gateway: { routing: routedMessage } },
  });
}

const attributionSchema = z.object({
  providerOptions: z.object({
    gateway: z.object({
      user: z.prefault(z.string(), ""),
      tags: z.prefault(z.array(z.string()), []),
    }),
  }),
});

/** Returns the user and tags of a body's `providerOptions.gateway`, for the spend report. */
function readAttribution(requestBody: unknown) {
  const { data } = attributionSchema.safeParse(requestBody);
  return data?.providerOptions.gateway ?? { user: "", tags: [] };
}

/** An answered call before it is charged. */
interface AnsweredCall {
  /** The emulator's own model that answered; null if the called one did. */
  readonly standIn: string | null;
  readonly usage: Judgement["usage"];
  readonly isStreamed: boolean;
  readonly body: unknown;
}

/**
 * Charges an answered call, adds it to the ledger, and returns the gateway's provider metadata
 * (contract section 2.5). The price is in `marketCost`; `cost` is `0`, as observed.
 */
export function settleCall(
  { account, model, startTime }: GatewayCall,
  { standIn, usage, isStreamed, body }: AnsweredCall,
  emulatorContext: EmulatorContext,
) {
  const { inputTokens, outputTokens } = usage;
  const endTime = emulatorContext.clock();
  const marketCost = inputTokens * model.inputPrice + outputTokens * model.outputPrice;
  const generationId = `gen_${emulatorContext.nextId()}`;
  account.charge(marketCost);
  const provider = providerFor(model, standIn);
  emulatorContext.ledger.add({
    id: generationId,
    account: account.number,
    model: model.id,
    provider,
    marketCost,
    inputTokens,
    outputTokens,
    isStreamed,
    startTime,
    endTime,
    attribution: readAttribution(body),
  });
  const outcome = { success: true, startTime, endTime, statusCode: 200 };
  const attempt = { provider, credentialType: "system", ...outcome };
  return {
    routing: { ...routing(model, standIn, [attempt]), finalProvider: provider },
    cost: "0",
    marketCost: toDollarString(marketCost),
    surchargeCost: "0",
    gatewayCost: "0",
    generationId,
  };
}

/** The provider of the emulator's own models is `local`. */
function providerFor(catalogModel: CatalogModel, standIn: string | null): string {
  return standIn === null ? toProvider(catalogModel) : "local";
}

/** Returns the routing block of a call; without attempts it was rejected before any provider. */
function routing(
  catalogModel: CatalogModel,
  standIn: string | null,
  providerAttempts: readonly object[],
) {
  const canonicalSlug = standIn ?? catalogModel.id;
  const providerAttemptCount = providerAttempts.length;
  const success = providerAttemptCount > 0;
  return {
    originalModelId: catalogModel.id,
    resolvedProvider: providerFor(catalogModel, standIn),
    fallbacksAvailable: [],
    planningReasoning: "The local emulator answers by itself; no provider is called.",
    canonicalSlug,
    modelAttemptCount: 1,
    modelAttempts: [{ canonicalSlug, success, providerAttemptCount, providerAttempts }],
    totalProviderAttemptCount: providerAttemptCount,
  };
}
