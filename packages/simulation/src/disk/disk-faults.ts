import type { FaultOf } from "../plan/fault.ts";
import type { ProcessClock } from "../time/process-clock.ts";

type DiskFault = FaultOf<"disk">;

/** What the power loss of a machine does to its process. */
export class PowerLoss extends Error {}

/** An operation that changes the disk. */
export type DiskOperation = "write" | "sync" | "commit" | "rename" | "create";

/** Lets the faults of the plan meet the operations of a disk. */
export class DiskFaults {
  readonly #open: { readonly fault: DiskFault; left: number }[];
  /** Whether the fault that the last operation met is over now. */
  isLast = false;
  /** When an operation met a fault last. */
  metAtMs = 0;
  readonly #onPowerLoss: (fault: DiskFault) => void;

  /** @param onPowerLoss - Ends the process, and loses what is not durable. */
  constructor(faults: readonly DiskFault[], onPowerLoss: (fault: DiskFault) => void) {
    this.#open = faults.map((fault) => ({ fault, left: fault.operations }));
    this.#onPowerLoss = onPowerLoss;
  }

  /** Counts an operation before it happens; returns the fault that meets it. @throws PowerLoss */
  next(operation: DiskOperation, { time, isDead }: ProcessClock): DiskFault["what"] | null {
    if (isDead) throw new PowerLoss();
    const isFile = operation !== "commit";
    for (const open of this.#open) {
      const { fault } = open;
      if (fault.atMs > time.nowMs || open.left <= 0 || fault.isOfFiles !== isFile) continue;
      if (fault.what === "sync" && operation !== "sync" && isFile) continue;
      if (fault.what === "short" && operation !== "write" && isFile) continue;
      open.left -= 1;
      this.metAtMs = time.nowMs;
      this.isLast = open.left === 0;
      if (fault.what !== "power") return fault.what;
      if (open.left > 0) continue;
      this.#onPowerLoss(fault);
      throw new PowerLoss();
    }
    return null;
  }
}
