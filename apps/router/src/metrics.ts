import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { MessageRecord } from "./records/message-record.ts";

/** Counts for Prometheus. */
export type Metrics = ReturnType<typeof createMetrics>;

const seconds = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120];

/** What is counted elsewhere, and asked for when the metrics are read. */
export interface MetricsSources {
  readonly callsInFlight: () => number;
  /** Records that the decision log dropped; null without a log. */
  readonly logDropped: (() => number) | null;
}

/** Returns a registry of its own, with nothing of another router in it. */
export function createMetrics(sources: MetricsSources) {
  const registry = new Registry();
  const registers = [registry];
  const { messages, responses, feedback, cost, unpriced, estimated, time } =
    createCounts(registers);
  addSources(sources, registers);

  /** Counts one message's end. */
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
  /** Counts what somebody said of a message's tier. */
  const countFeedback = (tier: string) => feedback.inc({ tier });
  const countResponse = (response: { method: string; route: string; status: number }) =>
    responses.inc(response);
  return { registry, observe, countFeedback, countResponse };
}

function createCounts(registers: Registry[]) {
  return {
    messages: new Counter({
      name: "router_messages_total",
      help: "Messages by endpoint, outcome, tier used and cause.",
      labelNames: ["endpoint", "outcome", "tier", "cause"],
      registers,
    }),
    responses: new Counter({
      name: "router_http_responses_total",
      help: "Responses by method, route and status.",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    feedback: new Counter({
      name: "router_feedback_total",
      help: "What people said of tiers, by the tier that would have been right.",
      labelNames: ["tier"],
      registers,
    }),
    cost: new Counter({
      name: "router_cost_usd_total",
      help: "US dollars spent on decisions and replies, and what the frontier tier would have cost, as far as prices are known.",
      labelNames: ["part"],
      registers,
    }),
    unpriced: new Counter({
      name: "router_unpriced_total",
      help: "Decisions and replies whose price nobody told; no cost counts them.",
      labelNames: ["part"],
      registers,
    }),
    estimated: new Counter({
      name: "router_estimated_cost_usd_total",
      help: "The part of the replies' costs that is an estimate, as they were stopped or broke off.",
      registers,
    }),
    time: new Histogram({
      name: "router_call_seconds",
      help: "Time of the decisions and the replies.",
      labelNames: ["part"],
      buckets: seconds,
      registers,
    }),
  };
}

// The registry keeps them, and asks them when it is read.
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
