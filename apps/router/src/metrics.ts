import type { TextSink } from "evaluator-kit";
import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { EvaluationRecord } from "./evaluations/evaluation-record.ts";
import type { MessageRecord } from "./records/message-record.ts";
import type { ClientEnv } from "./routes/client-request.ts";

const counters = {
  messages_total: [
    "Messages by endpoint, outcome, tier used, cause and key.",
    ["endpoint", "outcome", "tier", "cause", "key"],
  ],
  evaluations_total: [
    "Calls with clients' own questions by endpoint, outcome, service and key.",
    ["endpoint", "outcome", "service", "key"],
  ],
  http_responses_total: ["Responses by method, route and status.", ["method", "route", "status"]],
  feedback_total: ["Feedback by the tier that would have been right.", ["tier"]],
  cost_usd_total: [
    "US dollars spent on decisions and replies, and the frontier tier's price, if prices are known.",
    ["part", "key"],
  ],
  unpriced_total: ["Decisions and replies without a known price; they are in no cost.", ["part"]],
  estimated_cost_usd_total: [
    "The part of the replies' costs that is an estimate, since they were stopped or broke off.",
    [],
  ],
} satisfies Record<string, [help: string, labelNames: string[]]>;

/** The most names of keys in labels; the further ones are `other`. */
const MOST_KEYS = 100;

/** Creates the metrics in a new registry, so that several routers can share a process. */
export function createMetrics(callsInFlight: () => number, logDropped?: () => number) {
  const registry = new Registry();
  const registers = [registry];
  // The registry keeps these metrics and reads their values when it is read.
  void new Gauge({
    name: "router_calls_in_flight",
    help: "Calls that ask a model right now.",
    registers,
    collect() {
      this.set(callsInFlight());
    },
  });
  if (logDropped !== undefined) {
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
  const counterEntries = Object.entries(counters).map(([counterName, [help, labelNames]]) => [
    counterName,
    new Counter({ name: `router_${counterName}`, help, labelNames, registers }),
  ]);
  const counts = Object.fromEntries(counterEntries) as Record<keyof typeof counters, Counter>;
  const timeHistogram = new Histogram({
    name: "router_call_seconds",
    help: "Time of the decisions and the replies.",
    labelNames: ["part"],
    buckets: [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120],
    registers,
  });
  const keyLabels = new Set<string>();
  function toLabel(keyName: string): string {
    if (keyLabels.size < MOST_KEYS) keyLabels.add(keyName);
    return keyLabels.has(keyName) ? keyName : "other";
  }
  function observe(record: MessageRecord): void {
    const keyLabel = record.key !== null && { key: toLabel(record.key) };
    const { endpoint, outcome, tierUsed, cause, wire, outputTokens } = record;
    const tier = tierUsed ?? "none";
    counts.messages_total.inc({ endpoint, outcome, tier, cause: cause ?? "none", ...keyLabel });
    const { decisionCostUsd, replyCostUsd, frontierCostUsd } = record;
    for (const [part, costUsd, isPaid] of [
      ["decision", decisionCostUsd, wire !== null],
      ["reply", replyCostUsd, outputTokens !== null],
      ["frontier", frontierCostUsd, false],
    ] as const) {
      if (costUsd !== null) counts.cost_usd_total.inc({ part, ...keyLabel }, costUsd);
      else if (isPaid) counts.unpriced_total.inc({ part });
    }
    if (record.isEstimate) counts.estimated_cost_usd_total.inc(replyCostUsd ?? 0);
    // A message that needs no decision, such as a later step of a turn, has 0 ms and no wire.
    const decisionMs = wire === null ? record.decisionMs || null : record.decisionMs;
    if (decisionMs !== null) timeHistogram.observe({ part: "decision" }, decisionMs / 1000);
    if (record.replyMs !== null) timeHistogram.observe({ part: "reply" }, record.replyMs / 1000);
  }
  function observeEvaluation(record: EvaluationRecord): void {
    const { endpoint, outcome, service, evaluationUsd, evaluationMs } = record;
    const keyLabel = record.key !== null && { key: toLabel(record.key) };
    const part = "evaluation";
    counts.evaluations_total.inc({ endpoint, outcome, service, ...keyLabel });
    if (evaluationUsd === null) counts.unpriced_total.inc({ part });
    else counts.cost_usd_total.inc({ part, ...keyLabel }, evaluationUsd);
    timeHistogram.observe({ part }, evaluationMs / 1000);
  }
  return {
    registry,
    observeEvaluation,
    feedback: counts.feedback_total,
    observe,
    accessLog: (output?: TextSink) => log(counts.http_responses_total, output),
  };
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Logs and counts responses by route, since a path may hold a text; a stream's time is its start. */
function log(responses: Counter, accessLog: TextSink | undefined): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    const route = routePath(c, -1);
    const { method } = c.req;
    const { status } = c.res;
    responses.inc({ method: knownMethods.has(method) ? method : "other", route, status });
    if (accessLog === undefined) return;
    const durationMs = Math.round(performance.now() - startedAt);
    const { key: clientKey, requestId } = c.var;
    const keyText = clientKey === null ? "" : ` ${clientKey.name}`;
    accessLog.write(
      `${new Date().toISOString()} ${method} ${route} ${status} ${durationMs}ms ${requestId}${keyText}\n`,
    );
  };
}
