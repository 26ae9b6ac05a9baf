import type { Handler } from "hono";
import type { Routing } from "../decision/decide.ts";
import type { Decider, TierEntry } from "../decision/decision.ts";
import { HttpError } from "../http-error.ts";
import type { Metrics } from "../metrics.ts";
import { tierNames } from "../tier-question.ts";

/** Returns the route `GET /`: the page. */
export function pageRoute({ html }: { readonly html: string }): Handler {
  return (c) => c.html(html, 200, { "Cache-Control": "no-store" });
}

/** Returns the route `GET /decisions`: the decision log as a page; null without a log. */
export function decisionsRoute(drawDecisions: (() => Promise<string>) | null): Handler {
  return async (c) => {
    if (drawDecisions === null) {
      throw new HttpError(
        404,
        "Nothing keeps decisions here: start the router with ROUTER_DECISION_LOG.",
      );
    }
    return c.html(await drawDecisions(), 200, { "Cache-Control": "no-store" });
  };
}

/**
 * Returns the route `GET /tiers`: each tier with its model and prices, once the price list was
 * tried.
 */
export function tiersRoute({ tierModels, prices }: Routing, pricesTried: Promise<void>): Handler {
  return async (c) => {
    await pricesTried;
    const tiers = tierNames.map((tier): TierEntry => {
      const model = tierModels[tier];
      return { tier, model, price: prices.get(model) ?? null };
    });
    return c.json(tiers);
  };
}

/** Returns the route `GET /healthz`: this process answers. */
export const healthRoute: Handler = (c) => c.json({ status: "alive" });

/** What readiness depends on, and what is worth a look beside it. */
export interface Readiness {
  readonly isStopping: () => boolean;
  /** Records that the decision log dropped; null without a log. */
  readonly logDropped: (() => number) | null;
  /** Who made the latest decision. */
  readonly decider: () => Decider;
}

/** Returns the route `GET /readyz`: new messages are welcome, until the router begins to stop. */
export function readyRoute({ isStopping, logDropped, decider }: Readiness): Handler {
  return (c) => {
    const log = logDropped === null ? {} : { decisionLog: { dropped: logDropped() } };
    return isStopping()
      ? c.json({ status: "stopping", ...log, decider: decider() }, 503)
      : c.json({ status: "ready", ...log, decider: decider() }, 200);
  };
}

/** Returns the route `GET /metrics`: everything counted so far, as Prometheus reads it. */
export function metricsRoute({ registry }: Metrics): Handler {
  return async (c) =>
    c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType });
}
