import { tierNames } from "../tier-question.ts";
import type { Summary } from "./summary.ts";

const dollars = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 3,
});

/** The report as lines for a terminal. */
export function describeSummary(summary: Summary): string {
  if (summary.messages === 0)
    return `The decision log has no messages.\n${unreadableLine(summary)}`;
  const share = (count: number) => `${Math.round((100 * count) / summary.messages)}%`;
  const row = (name: string, count: number) => `  ${name.padEnd(28)}${count}  ${share(count)}`;
  const section = (title: string, counts: Iterable<[string, number]>) => {
    const rows = [...counts].map(([name, count]) => row(name, count));
    return rows.length === 0 ? [] : ["", title, ...rows];
  };
  const lines = [
    `${summary.messages} messages from ${summary.first} to ${summary.last}`,
    ...section(
      "Tiers used",
      tierNames.map((tier) => [tier, summary.tiers[tier]]),
    ),
    ...section("Not simply the model's choice", summary.causes),
    ...section("Failures", summary.failures),
    "",
    ...costLines(summary),
  ];
  return `${lines.join("\n")}\n${unreadableLine(summary)}`;
}

function costLines(summary: Summary): string[] {
  if (summary.compared === 0) {
    return [
      "What was saved is not known: no reply has a known price.",
      `  all decisions               ${dollars.format(summary.decisionUsd)}`,
    ];
  }
  const { compared, estimated, replyUsd, frontierUsd, decisionUsd, unpriced } = summary;
  const saved = frontierUsd - replyUsd - decisionUsd;
  const share = frontierUsd > 0 ? `, ${Math.round((100 * saved) / frontierUsd)}%` : "";
  const verdict = saved >= 0 ? "Saved" : "Lost";
  const notes = [
    ...(estimated === 0
      ? []
      : [`  (${estimated} stopped or broke off: their tokens are an estimate)`]),
    ...(unpriced === 0 ? [] : [`  (${unpriced} decisions have no known price)`]),
  ];
  return [
    `Costs of the ${compared} replies whose prices are known`,
    `  frontier tier only          ${dollars.format(frontierUsd)}`,
    `  replies as routed           ${dollars.format(replyUsd)}`,
    `  all decisions               ${dollars.format(decisionUsd)}`,
    ...notes,
    `${verdict} against frontier only, net of the decisions: ${dollars.format(Math.abs(saved))}${share}`,
  ];
}

function unreadableLine({ unreadable }: Summary): string {
  return unreadable === 0 ? "" : `Lines passed over because they are no records: ${unreadable}\n`;
}
