import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { MessageRecord } from "./message-router.ts";

/** Metrics for Prometheus. */
export type Metrics = ReturnType<typeof createMetrics>;

interface MetricsSources {
  readonly callsInFlight: () => number;
  readonly logDropped: (() => number) | null;
}

/** Creates the metrics in a new registry, so that several routers can share a process. */
export function createMetrics(sources: MetricsSources) {
  const registry = new Registry();
  const registers = [registry];
  addSources(sources, registers);
  const { messages, responses, feedback, cost, unpriced, estimated, time } =
    createCounters(registers);
  function observe(record: MessageRecord): void {
    const { endpoint, outcome, tierUsed, cause } = record;
    messages.inc({ endpoint, outcome, tier: tierUsed ?? "none", cause: cause ?? "none" });
    const { decisionCostUsd, replyCostUsd, frontierCostUsd } = record;
    if (decisionCostUsd !== null) cost.inc({ part: "decision" }, decisionCostUsd);
    else if (record.wire !== null) unpriced.inc({ part: "decision" });
    if (replyCostUsd !== null) cost.inc({ part: "reply" }, replyCostUsd);
    else if (record.outputTokens !== null) unpriced.inc({ part: "reply" });
    if (frontierCostUsd !== null) cost.inc({ part: "frontier" }, frontierCostUsd);
    if (record.isEstimate) estimated.inc(record.replyCostUsd ?? 0);
    if (record.decisionMs !== null) time.observe({ part: "decision" }, record.decisionMs / 1000);
    if (record.replyMs !== null) time.observe({ part: "reply" }, record.replyMs / 1000);
  }
  return { registry, responses, feedback, observe };
}

function createCounters(registers: Registry[]) {
  const counter = <TLabel extends string>(name: string, help: string, labelNames: TLabel[]) =>
    new Counter({ name: `router_${name}`, help, labelNames, registers });
  return {
    messages: counter("messages_total", "Messages by endpoint, outcome, tier used and cause.", [
      "endpoint",
      "outcome",
      "tier",
      "cause",
    ]),
    responses: counter("http_responses_total", "Responses by method, route and status.", [
      "method",
      "route",
      "status",
    ]),
    feedback: counter("feedback_total", "Feedback by the tier that would have been right.", [
      "tier",
    ]),
    cost: counter(
      "cost_usd_total",
      "US dollars spent on decisions and replies, and the frontier tier's price, if prices are known.",
      ["part"],
    ),
    unpriced: counter(
      "unpriced_total",
      "Decisions and replies without a known price; they are in no cost.",
      ["part"],
    ),
    estimated: counter(
      "estimated_cost_usd_total",
      "The part of the replies' costs that is an estimate, since they were stopped or broke off.",
      [],
    ),
    time: new Histogram({
      name: "router_call_seconds",
      help: "Time of the decisions and the replies.",
      labelNames: ["part"],
      buckets: [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120],
      registers,
    }),
  };
}

/** The registry keeps these metrics and reads their values when it is read. */
function addSources({ callsInFlight, logDropped }: MetricsSources, registers: Registry[]): void {
  void new Gauge({
    name: "router_calls_in_flight",
    help: "Calls that ask a model right now.",
    registers,
    collect() {
      this.set(callsInFlight());
    },
  });
  if (logDropped === null) return;
  void new Counter({
    name: "router_decision_log_dropped_total",
    help: "Records that the decision log could not write.",
    registers,
    collect() {
      this.reset();
      this.inc(logDropped());
    },
  });
}
