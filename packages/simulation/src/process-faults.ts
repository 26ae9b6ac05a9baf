import type { FaultOf } from "./plan/fault.ts";
import type { World } from "./world.ts";

/** Starts a process again after it was killed. */
export type Restart = (process: string) => void;

/** Lets the faults of the plan meet the processes: kills, freezes, slowness and steps of their clocks. */
export function playProcessFaults(world: World, restart: Restart): void {
  const { plan, time } = world;
  for (const fault of plan.faults) {
    if (!("process" in fault)) continue;
    time.schedule(fault.atMs, () => play(world, fault, restart));
  }
}

type ProcessFault = FaultOf<"kill" | "freeze" | "slow" | "clock"> & { readonly process: string };

function play(world: World, fault: ProcessFault, restart: Restart): void {
  const { time, trace, processes } = world;
  const process = processes.get(fault.process);
  // A fault before may have killed it, and a smaller plan may have fewer.
  if (process === undefined) return;
  trace.add(time.nowMs, fault.process, fault.kind);
  if (fault.kind === "freeze") process.freeze(fault.forMs);
  else if (fault.kind === "slow") process.slow(fault.forMs, fault.eventMs);
  else if (fault.kind === "clock") process.offMs += fault.byMs;
  else {
    processes.delete(fault.process);
    process.kill();
    time.schedule(fault.backAfterMs, () => restart(fault.process));
  }
}
