import { CliError } from "evaluator-kit";
import { Ledger } from "../keys/ledger.ts";
import type { openDecisionLog } from "../records/decision-log.ts";
import type { RouterOptions } from "../router-options.ts";
import { type BlindOptions, createBlindShadow } from "./blind-shadow.ts";

interface BlindParts extends Pick<BlindOptions, "services" | "prices" | "reportDefect"> {
  readonly log: Pick<Awaited<ReturnType<typeof openDecisionLog>>, "path" | "add"> | null;
  /** Null without named keys; then the spending is kept beside the log. */
  readonly ledger: Ledger | null;
}

/** Opens the shadow of a router; null if it is off. @throws CliError without a decision log */
export function openBlindShadow(
  options: RouterOptions & { readonly instance: string },
  { log, ...parts }: BlindParts,
) {
  const { blind, leaseMs, instance } = options;
  if (blind.share === 0) return null;
  if (log === null) {
    throw new CliError("ROUTER_BLIND_SHARE needs ROUTER_DECISION_LOG, where comparisons are kept.");
  }
  const ledger = parts.ledger ?? new Ledger(log.path, { leaseMs });
  const note: BlindOptions["note"] = (requestId, blind) =>
    log.add({ time: new Date().toISOString(), instance, requestId, blind });
  const shadow = createBlindShadow({ ...parts, ...blind, ledger, note });
  return {
    ...shadow,
    async close() {
      await shadow.close();
      if (parts.ledger === null) await ledger.close();
    },
  };
}

/** Describes the cost of the shadow before it is spent. */
export function describeBlindCost({ share, usdPerDay }: RouterOptions["blind"]): string {
  const part = Number((100 * share).toFixed(2));
  return `Blind shadow: the cheapest and the dearest tier also answer ${part} % of auto's messages, for at most $${usdPerDay} a day.`;
}
