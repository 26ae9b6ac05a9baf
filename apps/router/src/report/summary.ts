import { tierNames } from "../decision/tier-question.ts";
import { costsOf, type LoggedRecord } from "./read-records.ts";

/** The sums of a decision log; costs are in US dollars. */
export type Summary = ReturnType<typeof emptySummary>;

/** Returns the sums of no message. */
export function emptySummary() {
  return {
    messages: 0,
    unreadable: 0,
    /** Times of the first and the last message, in ISO 8601. */
    first: null as string | null,
    last: null as string | null,
    tiers: new Map<string, number>(tierNames.map((tier) => [tier, 0])),
    upstreams: new Map<string, number>(),
    /** Messages by cause, except the model's own choice. */
    causes: new Map<string, number>(),
    /** Choices of the model by their promise. */
    promises: new Map<string, number>(),
    /** Messages without a reply, by the kind of failure. */
    failures: new Map<string, number>(),
    /** Price of all decisions, also without a reply. */
    decisionUsd: 0,
    /** Price of all replies, compared or not. */
    paidUsd: 0,
    /** Decisions and replies without a known price. */
    unpriced: { decisions: 0, replies: 0 },
    /** Input of all replies, and the part of it that a cache had. */
    inputTokens: 0,
    cachedTokens: 0,
    /** Replies with known costs, and those of them whose tokens are an estimate. */
    compared: 0,
    estimated: 0,
    replyUsd: 0,
    frontierUsd: 0,
    /** Replies of ROUTER_SHADOW's model with known costs, and the costs of `auto`'s choice. */
    shadowed: 0,
    shadowUsd: 0,
    autoUsd: 0,
  };
}

/** Sums up records. */
export async function summarize(
  records: Iterable<LoggedRecord | null> | AsyncIterable<LoggedRecord | null>,
): Promise<Summary> {
  const summary = emptySummary();
  for await (const record of records) {
    if (record === null) summary.unreadable += 1;
    else addTo(summary, record);
  }
  return summary;
}

/** Adds a message to sums. */
export function addTo(summary: Summary, record: LoggedRecord): void {
  const { outcome, tierChosen, tierUsed, upstream, cause, failure } = record;
  summary.messages += 1;
  summary.first ??= record.time;
  summary.last = record.time;
  if (tierUsed !== null) count(summary.tiers, tierUsed);
  if (upstream !== null) count(summary.upstreams, upstream);
  if (cause !== null && cause !== "choice") count(summary.causes, cause);
  if (tierChosen !== null) count(summary.promises, describePromise(record));
  if (outcome === "no-decision") count(summary.failures, `no decision: ${failure ?? "unknown"}`);
  if (outcome === "reply-failed") {
    count(summary.failures, failure === null ? "reply failed" : `reply failed: ${failure}`);
  }
  if (outcome === "stopped") count(summary.failures, "stopped by the client");
  addCosts(summary, record);
}

function addCosts(summary: Summary, record: LoggedRecord): void {
  const { decisionCostUsd, replyCostUsd, frontierCostUsd, shadow } = record;
  const { decision, reply } = costsOf(record);
  if (decision[0] === null) summary.unpriced.decisions += 1;
  if (reply[0] === null) summary.unpriced.replies += 1;
  summary.decisionUsd += decisionCostUsd ?? 0;
  summary.inputTokens += record.inputTokens ?? 0;
  summary.cachedTokens += record.cacheReadTokens ?? 0;
  if (replyCostUsd === null) return;
  summary.paidUsd += replyCostUsd;
  if (typeof shadow?.replyCostUsd === "number") {
    summary.shadowed += 1;
    summary.shadowUsd += replyCostUsd;
    summary.autoUsd += shadow.replyCostUsd;
  }
  if (frontierCostUsd === null) return;
  summary.compared += 1;
  if (record.isEstimate) summary.estimated += 1;
  summary.replyUsd += replyCostUsd;
  summary.frontierUsd += frontierCostUsd;
}

function describePromise({ promise }: LoggedRecord): string {
  const { evidence, why } = promise ?? {};
  if (evidence === undefined) return why === undefined ? "none" : `none: ${why}`;
  const { threshold, maxRisk, confidence, n, wrong } = evidence;
  const [risk, sure] = [maxRisk, confidence].map((share) => Number((100 * share).toFixed(2)));
  return `at most ${risk}% wrong at ${threshold.toFixed(2)} and above, with ${sure}% confidence (${wrong} of ${n} labels)`;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Returns the savings against the frontier tier, net of the decisions, in US dollars and as a share. */
export function savingOf({ frontierUsd, replyUsd, decisionUsd }: Summary) {
  const savedUsd = frontierUsd - replyUsd - decisionUsd;
  return { savedUsd, share: frontierUsd > 0 ? savedUsd / frontierUsd : null };
}

/** US dollars with three digits. */
export const dollars = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 3,
});

/** Returns the report as lines for a terminal. */
export function describeSummary(summary: Summary): string {
  const { messages, unreadable } = summary;
  const invalid =
    unreadable === 0 ? "" : `Lines passed over because they are no records: ${unreadable}\n`;
  if (messages === 0) return `The decision log has no messages.\n${invalid}`;
  const section = (title: string, counts: ReadonlyMap<string, number>) => {
    const all = [...counts];
    const width = Math.max(28, ...all.map(([name]) => name.length + 1));
    const rows = all.map(
      ([name, count]) =>
        `  ${name.padEnd(width)}${count}  ${Math.round((100 * count) / messages)}%`,
    );
    return rows.length === 0 ? [] : ["", title, ...rows];
  };
  const lines = [
    `${messages} messages from ${summary.first} to ${summary.last}`,
    ...section("Tiers used", summary.tiers),
    ...(summary.upstreams.size > 1 ? section("Upstreams", summary.upstreams) : []),
    ...section("Not simply the model's choice", summary.causes),
    ...section("Promises for the choices", summary.promises),
    ...section("Failures", summary.failures),
    "",
    ...costLines(summary),
    ...shadowLines(summary),
  ];
  return `${lines.join("\n")}\n${invalid}`;
}

function costLines(summary: Summary): string[] {
  const { compared, estimated, replyUsd, frontierUsd, decisionUsd, unpriced } = summary;
  const isUnknown = decisionUsd === 0 && unpriced.decisions > 0;
  const decisionCost = isUnknown ? "unknown" : dollars.format(decisionUsd);
  const decisions = `  all decisions               ${decisionCost}`;
  if (compared === 0) {
    return ["The savings are unknown: no reply has a known price.", decisions];
  }
  const { savedUsd, share } = savingOf(summary);
  const part = share === null ? "" : `, ${Math.round(100 * share)}%`;
  const lines = [
    `Costs of the ${compared} replies whose prices are known`,
    `  frontier tier only          ${dollars.format(frontierUsd)}`,
    `  replies as routed           ${dollars.format(replyUsd)}`,
    decisions,
  ];
  if (estimated > 0)
    lines.push(`  (${estimated} stopped or broke off: their tokens are an estimate)`);
  const cached = Math.round((100 * summary.cachedTokens) / summary.inputTokens);
  if (cached > 0) lines.push(`  (a cache had ${cached}% of the input tokens)`);
  for (const [part, count] of Object.entries(unpriced))
    if (count > 0) lines.push(`  (${count} ${part} have no known price)`);
  const verdict = savedUsd >= 0 ? "Saved" : "Lost";
  const saving = `${dollars.format(Math.abs(savedUsd))}${part}`;
  return [...lines, `${verdict} against frontier only, net of the decisions: ${saving}`];
}

function shadowLines({ shadowed, shadowUsd, autoUsd }: Summary): string[] {
  if (shadowed === 0) return [];
  return [
    "",
    `Costs of the ${shadowed} replies in auto's place`,
    `  as answered                 ${dollars.format(shadowUsd)}`,
    `  auto would have cost        ${dollars.format(autoUsd)}`,
  ];
}
