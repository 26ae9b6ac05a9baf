import { chargeAccount } from "../accounts/account.ts";
import { costOfCall, type CallTokens } from "../catalog/cost-of-call.ts";
import { toDollarString } from "../catalog/price.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import type { GatewayCall } from "./check-gateway-call.ts";
import { answeredRouting } from "./routing.ts";

/** An answered call that is not yet paid for. */
export interface AnsweredCall extends CallTokens {
  /** What answered. */
  readonly canonicalSlug: string;
  readonly provider: string;
  readonly isStreamed: boolean;
  /** Epoch milliseconds. */
  readonly startTime: number;
}

/**
 * Charges an answered call, notes it for `GET /v1/generation`, and gives the gateway's block of
 * provider metadata (contract section 2.5). The price is in `marketCost`; `cost` is `0`, as observed.
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
  return {
    routing: answeredRouting({ modelId: model.id, canonicalSlug, provider, startTime, endTime }),
    cost: "0",
    marketCost: toDollarString(marketCost),
    surchargeCost: "0",
    gatewayCost: "0",
    generationId: id,
  };
}
