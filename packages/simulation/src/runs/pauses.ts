import type { LimitStore } from "evaluator-client";
import type { Caller, RequestFollower } from "../service/model-service.ts";
import { endOf } from "../plan/fault.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";

// Four refusals in a row show one process a limit (packages/evaluator-client, shared-pacer.ts); each call
// that it begins meanwhile counts against them, so up to six calls at once need two more.
const IN_A_ROW = 6;
// The store takes some round trips to tell all processes.
const TOLD_MS = 300;
const SAME_PAUSE_MS = 50;

/** Follows a limit that processes share: if one of them is refused again and again, all pause. */
export class Pauses implements RequestFollower {
  readonly #world: World;
  readonly #refusals = new Map<Caller, number>();
  #pause = { knownAtMs: Number.POSITIVE_INFINITY, untilMs: 0 };
  /** The pause of the store: since when, until when, and until when instants were leased before it. */
  #stored = { atMs: 0, untilMs: 0, leasedUntilMs: 0 };
  /** When each process heard nothing of a pause, or of more refusals in it. */
  readonly #missed = new Map<ProcessClock, Set<number>>();

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
        const aheadMs = time.nowMs - nowMs;
        const untilMs = row.pausedUntilMs + aheadMs;
        if (!isSwapped || untilMs <= this.#stored.untilMs) return isSwapped;
        // Another refusal of the same pause rounds its rest in another way.
        const isSame = untilMs <= this.#stored.untilMs + SAME_PAUSE_MS;
        const leasedUntilMs = row.requestsFreeAtMs + aheadMs;
        const before = isSame ? this.#stored : { atMs: time.nowMs, leasedUntilMs };
        this.#stored = { ...before, untilMs };
        return isSwapped;
      },
    };
  }

  /** A process hears nothing of a pause that begins; it learns of it from its next lease. */
  missed(clock: ProcessClock): void {
    const missed = this.#missed.get(clock) ?? new Set();
    this.#missed.set(clock, missed.add(this.#world.time.nowMs));
  }

  arrived({ clock }: Caller, _body: string, sentAtMs: number): void {
    const { checks } = this.#world;
    const { knownAtMs, untilMs } = this.#pause;
    const isPaused = sentAtMs > knownAtMs + TOLD_MS && sentAtMs < untilMs;
    if (clock.isLateAt(sentAtMs)) return;
    const isKept = !isPaused || !this.#isTold(knownAtMs, sentAtMs);
    checks.expect("rate", isKept, () => `a process asks in a pause that another one knows`);
    this.#checkStoredPause(clock, sentAtMs);
  }

  /** A process sends at no instant that was leased in the pause, also if it heard nothing of it. */
  #checkStoredPause(clock: ProcessClock, sentAtMs: number): void {
    const { atMs, untilMs, leasedUntilMs } = this.#stored;
    const isMissed = this.#missed.get(clock)?.has(atMs) === true;
    const knownAtMs = isMissed ? Math.max(atMs, leasedUntilMs) : atMs;
    const isPaused = sentAtMs > knownAtMs + TOLD_MS && sentAtMs < untilMs - SAME_PAUSE_MS;
    const seen = () =>
      `a process that ${isMissed ? "missed" : "heard of"} a pause asks ${untilMs - sentAtMs} ms before its end`;
    const isKept = !isPaused || !this.#isTold(atMs, sentAtMs);
    this.#world.checks.expect("rate", isKept, seen);
  }

  /** Whether no fault of the store keeps a pause from the processes. */
  #isTold(knownAtMs: number, nowMs: number): boolean {
    return this.#world.plan.faults.every(
      (fault) =>
        fault.kind !== "store" ||
        fault.what === "lost-notify" ||
        fault.atMs > nowMs ||
        endOf(fault) < knownAtMs - 5000,
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
      checks.expect("rate", this.#stored.untilMs >= untilMs - 1, seen);
    });
  }

  ended(caller: Caller, _body: string, usd: number | null): void {
    if (usd !== null && usd > 0) this.#refusals.delete(caller);
  }
}
