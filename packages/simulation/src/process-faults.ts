import type { FaultOf } from "./plan/fault.ts";
import type { World } from "./world.ts";

/** Lets the faults of the plan meet the processes: kills, freezes, slowness and steps of their clocks. */
export function playProcessFaults(world: World): void {
  for (const fault of world.plan.faults) {
    if ("process" in fault) world.time.schedule(fault.atMs, () => play(world, fault));
  }
}

type ProcessFault = FaultOf<"kill" | "freeze" | "slow" | "clock"> & { readonly process: string };

function play(world: World, fault: ProcessFault): void {
  const { time, trace, processes } = world;
  const process = processes.get(fault.process);
  // A fault before may have killed it, and a smaller plan may have fewer.
  if (process === undefined) return;
  trace.add(time.nowMs, fault.process, fault.kind);
  if (fault.kind === "kill") world.kill(fault.process, fault.backAfterMs);
  else if (fault.kind === "freeze") process.freeze(fault.forMs);
  else if (fault.kind === "slow") process.slow(fault.forMs, fault.eventMs);
  else process.offMs += fault.byMs;
}
