import { meetFreeTierWall, type FreeTierRefusal } from "../accounts/free-tier-wall.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import type { GatewayCall } from "./check-gateway-call.ts";
import { GatewayError, type GatewayErrorDetails } from "./gateway-error.ts";
import { refusedRouting } from "./routing.ts";

// The contract shows the messages; status and type of `no-access` are unverified.
const refusals = {
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
} satisfies Record<FreeTierRefusal, { message: string; details: GatewayErrorDetails }>;

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
  const refusal = meetFreeTierWall(account, model, context.clock());
  if (refusal === null) return;
  const { message, details } = refusals[refusal];
  const route = { modelId: model.id, canonicalSlug: model.id, provider: model.provider };
  throw new GatewayError(message, {
    ...details,
    generationId: `gen_${context.nextId()}`,
    providerMetadata: { gateway: { routing: refusedRouting(route) } },
  });
}
