import type { Fault } from "./fault.ts";

const names: Readonly<Record<string, string>> = {
  "service status": "error status",
  "service cut": "cut body",
  "service garbage": "body that is no JSON",
  "service broken": "body against the contract",
  "service hang": "request without an answer",
  "service lost-before": "lost request",
  "service lost-after": "lost answer",
  "service slow": "slow answer",
  "service outage": "outage of the service",
  "service limit": "pause of the service",
  "service rate": "change of the limit",
  "store lost-before": "lost call of the store",
  "store lost-after": "lost reply",
  "store slow": "late replies",
  "store lost-notify": "lost notification",
  "store restart": "restart of the store",
  "store outage": "outage of the store",
  "store silence": "silence of the store",
  "store clock": "step of the store's clock",
  "disk full": "full disk",
  "disk short": "short write",
  "disk sync": "failed sync",
  "disk power": "power loss",
  clock: "clock step",
  slow: "slow process",
};

/** Returns what a fault is called, such as "lost reply". */
export function nameOf(fault: Fault): string {
  const key = "what" in fault ? `${fault.kind} ${fault.what}` : fault.kind;
  return names[key] ?? key;
}

/** Returns a fault and when it happens, such as "kill of worker 2 at 00:03:12.250". */
export function describeFault(fault: Fault): string {
  const whose = "process" in fault ? ` of ${fault.process}` : "";
  return `${nameOf(fault)}${whose} at ${toTime(fault.atMs)}`;
}

/** Returns virtual time as hours, minutes and seconds. */
export function toTime(ms: number): string {
  return new Date(Math.round(ms)).toISOString().slice("2026-11-21T".length, -1);
}
