import type { LimitStore } from "evaluator-client";
import type { Caller, RequestFollower } from "../service/model-service.ts";
import { endOf } from "../plan/fault.ts";
import type { World } from "../world.ts";

// Four refusals in a row show one process a limit (packages/evaluator-client, shared-pacer.ts); each call
// that it begins meanwhile counts against them, so up to six calls at once need two more.
const IN_A_ROW = 6;
// The store takes some round trips to tell all processes.
const TOLD_MS = 300;

/** Follows a limit that processes share: if one of them is refused again and again, all pause. */
export class Pauses implements RequestFollower {
  readonly #world: World;
  readonly #refusals = new Map<Caller, number>();
  #pause = { knownAtMs: Number.POSITIVE_INFINITY, untilMs: 0 };
  /** Until when the store pauses all processes. */
  #storedUntilMs = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Returns the store of the limit as the processes use it. */
  watch(store: LimitStore): LimitStore {
    const { time } = this.#world;
    return {
      ...store,
      swap: async (key, version, row) => {
        const isSwapped = await store.swap(key, version, row);
        const { nowMs } = await store.read(key);
        const untilMs = time.nowMs + row.pausedUntilMs - nowMs;
        if (isSwapped) this.#storedUntilMs = Math.max(this.#storedUntilMs, untilMs);
        return isSwapped;
      },
    };
  }

  arrived({ clock }: Caller, _body: string, sentAtMs: number): void {
    const { checks } = this.#world;
    const { knownAtMs, untilMs } = this.#pause;
    const isPaused = sentAtMs > knownAtMs + TOLD_MS && sentAtMs < untilMs;
    if (clock.isLateAt(sentAtMs) || !this.#isTold(knownAtMs, sentAtMs)) return;
    checks.expect("rate", !isPaused, () => `a process asks in a pause that another one knows`);
  }

  /** Whether no fault of the store keeps a pause from the processes. */
  #isTold(knownAtMs: number, nowMs: number): boolean {
    return this.#world.plan.faults.every(
      (fault) => fault.kind !== "store" || fault.atMs > nowMs || endOf(fault) < knownAtMs - 5000,
    );
  }

  refused(caller: Caller, untilMs: number): void {
    const { nowMs } = this.#world.time;
    if (this.#pause.untilMs !== untilMs) {
      this.#refusals.clear();
      this.#pause = { knownAtMs: Number.POSITIVE_INFINITY, untilMs };
    }
    const count = (this.#refusals.get(caller) ?? 0) + 1;
    this.#refusals.set(caller, count);
    if (count < IN_A_ROW || caller.clock.isLateAt(nowMs)) return;
    this.#pause.knownAtMs = Math.min(this.#pause.knownAtMs, nowMs);
    if (count === IN_A_ROW) this.#checkStored(caller, untilMs);
  }

  /** The process that knows a pause tells the store. */
  #checkStored({ name, clock }: Caller, untilMs: number): void {
    const { checks, time } = this.#world;
    const knownAtMs = time.nowMs;
    time.schedule(TOLD_MS, () => {
      if (clock.isDead || clock.wasDisturbed || !this.#isTold(knownAtMs, time.nowMs)) return;
      const seen = () => `${name} knows a pause until ${untilMs} ms, and the store does not`;
      checks.expect("rate", this.#storedUntilMs >= untilMs - 1, seen);
    });
  }

  ended(caller: Caller, _body: string, usd: number | null): void {
    if (usd !== null && usd > 0) this.#refusals.delete(caller);
  }
}
