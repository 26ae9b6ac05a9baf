import type { Handler } from "hono";
import type { Metrics } from "../metrics.ts";

/** `GET /`: the page. */
export function pageRoute({ html }: { readonly html: string }): Handler {
  return (c) => c.html(html, 200, { "Cache-Control": "no-store" });
}

/** `GET /healthz`: this process answers. */
export const healthRoute: Handler = (c) => c.json({ status: "alive" });

/** What readiness depends on, and what is worth a look beside it. */
export interface Readiness {
  readonly isStopping: () => boolean;
  /** Records that the decision log dropped; null without a log. */
  readonly logDropped: (() => number) | null;
}

/** `GET /readyz`: new messages are welcome, until the router begins to stop. */
export function readyRoute({ isStopping, logDropped }: Readiness): Handler {
  return (c) => {
    const log = logDropped === null ? {} : { decisionLog: { dropped: logDropped() } };
    return isStopping()
      ? c.json({ status: "stopping", ...log }, 503)
      : c.json({ status: "ready", ...log }, 200);
  };
}

/** `GET /metrics`: everything counted so far, as Prometheus reads it. */
export function metricsRoute({ registry }: Metrics): Handler {
  return async (c) =>
    c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType });
}
