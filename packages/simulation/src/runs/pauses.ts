import type { Caller, RequestFollower } from "../service/model-service.ts";
import { endOf } from "../plan/fault.ts";
import type { World } from "../world.ts";

// So many refusals in a row show one process a limit (packages/evaluator-client, call-queue.ts).
const IN_A_ROW = 4;
// The store takes some round trips to tell all processes.
const TOLD_MS = 300;

/** Follows a limit that processes share: if one of them is refused again and again, all pause. */
export class Pauses implements RequestFollower {
  readonly #world: World;
  readonly #refusals = new Map<Caller, number>();
  #pause = { knownAtMs: Number.POSITIVE_INFINITY, untilMs: 0 };

  constructor(world: World) {
    this.#world = world;
  }

  arrived(_caller: Caller, _body: string, sentAtMs: number): void {
    const { checks, plan } = this.#world;
    const { knownAtMs, untilMs } = this.#pause;
    const isPaused = sentAtMs > knownAtMs + TOLD_MS && sentAtMs < untilMs;
    const isTold = plan.faults.every(
      (fault) => fault.kind !== "store" || fault.atMs > sentAtMs || endOf(fault) < knownAtMs - 5000,
    );
    if (!isTold) return;
    checks.expect("rate", !isPaused, () => `a process asks in a pause that another one knows`);
  }

  refused(caller: Caller, untilMs: number): void {
    const { nowMs } = this.#world.time;
    if (this.#pause.untilMs !== untilMs) {
      this.#refusals.clear();
      this.#pause = { knownAtMs: Number.POSITIVE_INFINITY, untilMs };
    }
    const count = (this.#refusals.get(caller) ?? 0) + 1;
    this.#refusals.set(caller, count);
    if (count >= IN_A_ROW) this.#pause.knownAtMs = Math.min(this.#pause.knownAtMs, nowMs);
  }

  ended(caller: Caller, _body: string, usd: number | null): void {
    if (usd !== null && usd > 0) this.#refusals.delete(caller);
  }
}
