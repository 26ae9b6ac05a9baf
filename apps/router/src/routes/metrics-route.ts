import type { Handler } from "hono";
import type { Metrics } from "../operations/metrics.ts";

/** `GET /metrics`: everything counted so far, as Prometheus reads it. */
export function metricsRoute({ registry }: Metrics): Handler {
  return async (c) =>
    c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType });
}
