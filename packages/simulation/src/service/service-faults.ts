import type { FaultOf } from "../plan/fault.ts";

type ServiceFault = FaultOf<"service">;

/** The faults of the service that are under way, oldest first. */
export class ServiceFaults {
  readonly #waiting: ServiceFault[];
  /** When a request met a fault last. */
  metAtMs = 0;
  readonly #open: { readonly fault: ServiceFault; requests: number }[] = [];

  constructor(faults: readonly ServiceFault[]) {
    const met = faults.filter(({ what }) => what !== "rate");
    this.#waiting = met.toSorted((one, other) => one.atMs - other.atMs);
  }

  /** Returns the fault that meets a request at that time, and counts it. */
  next(nowMs: number): ServiceFault | null {
    while ((this.#waiting[0]?.atMs ?? Infinity) <= nowMs) {
      const fault = this.#waiting.shift() as ServiceFault;
      this.#open.push({ fault, requests: "requests" in fault ? fault.requests : Infinity });
    }
    while (this.#open[0] !== undefined && isOver(this.#open[0], nowMs)) this.#open.shift();
    const [first] = this.#open;
    if (first === undefined) return null;
    first.requests -= 1;
    this.metAtMs = nowMs;
    return first.fault;
  }
}

function isOver({ fault, requests }: { fault: ServiceFault; requests: number }, nowMs: number) {
  return requests <= 0 || ("forMs" in fault && nowMs >= fault.atMs + fault.forMs);
}
