import { describeFault, nameOf, toTime } from "./plan/describe-fault.ts";
import type { Plan } from "./plan/plan.ts";
import type { Played, Result } from "./simulate.ts";

/** Describes a failing seed: the first break and the fault before it, the smallest plan, and how to play it. */
export function describeFailure({ plan, first }: Played, file: string): string {
  if (first === null) return "";
  const { property, seen, atMs } = first;
  const fault = plan.faults.findLast((each) => each.atMs <= atMs);
  const after = fault === undefined ? ` at ${toTime(atMs)}` : ` after ${describeFault(fault)}`;
  return (
    `seed ${plan.seed}: ${property}: ${seen}${after}\n` +
    `  smallest plan: ${describePlan(plan)}\n` +
    `  npm run simulate -- --seed ${plan.seed} --plan ${file}\n`
  );
}

function describePlan({ faults, records, workers, clients, minutes, part }: Plan): string {
  const groups = Object.entries(Object.groupBy(faults, nameOf));
  const counts = groups.map(([name, { length } = []]) => `${length} ${name}`);
  const size = part === "whole" ? `${records} records, ${workers} workers, ` : "";
  const rest = `${size}${clients} clients, ${Number(minutes.toFixed(2))} min`;
  return `${counts.join(", ") || "no fault"}; ${rest}`;
}

/** Lists the faults of a plan, a line each. */
export function listFaults({ faults }: Plan): string {
  const lines = faults.map((fault) => {
    const { kind: _kind, atMs: _atMs, ...details } = fault;
    return `  ${describeFault(fault)} ${JSON.stringify(details)}\n`;
  });
  return lines.join("");
}

/** Sums up all played seeds in one line. */
export function describeAll(results: readonly Result[]): string {
  const sum = (of: (result: Result) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const virtualHours = sum(({ virtualMs }) => virtualMs) / 3_600_000;
  const cpuMs = sum((result) => result.cpuMs);
  const speed = Math.round((virtualHours * 3_600_000) / Math.max(1, cpuMs));
  const failed = results.filter(({ ok }) => !ok).length;
  const outcome = failed === 0 ? "all properties hold" : `${failed} failed`;
  return (
    `${results.length} seeds, ${outcome}: ${virtualHours.toFixed(1)} virtual hours in ` +
    `${(cpuMs / 1000).toFixed(1)} s of CPU time, ${speed} virtual hours a CPU hour.\n`
  );
}
