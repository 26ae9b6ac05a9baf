import { estimateUsd } from "../service/answer.ts";
import type { Caller, RequestFollower } from "../service/model-service.ts";
import type { World } from "../world.ts";

/** Follows what a run spends: no call begins that might cost more than its limit, as far as estimates go. */
export class Spending implements RequestFollower {
  readonly #world: World;
  readonly #maxUsd: number;
  /** How many calls may be in flight at once. */
  readonly #concurrency: number;
  #spentUsd = 0;
  readonly #open = new Map<Caller, Map<string, number>>();

  constructor(world: World, maxUsd: number, concurrency: number) {
    this.#world = world;
    this.#maxUsd = maxUsd;
    this.#concurrency = concurrency;
  }

  arrived(caller: Caller, body: string): void {
    if (this.#maxUsd === Number.POSITIVE_INFINITY) return;
    const open = this.#open.get(caller) ?? new Map<string, number>();
    this.#open.set(caller, open.set(body, estimateUsd(body)));
    let reservedUsd = 0;
    for (const [{ clock }, bodies] of this.#open) {
      if (!clock.isDead) for (const usd of bodies.values()) reservedUsd += usd;
    }
    // Answers to calls in flight may cost twice their estimate, and those that were cut off are asked again.
    const calls = this.#concurrency + this.#world.tallies.of(caller.name).cutOff;
    const mostUsd = this.#maxUsd + 2 * calls * estimateUsd(body);
    const isWithin = this.#spentUsd + reservedUsd <= mostUsd;
    const seen = () => `${this.#spentUsd} spent and ${reservedUsd} reserved > ${this.#maxUsd}`;
    this.#world.checks.expect("budget", isWithin, seen);
  }

  ended(caller: Caller, body: string, usd: number | null): void {
    this.#open.get(caller)?.delete(body);
    this.#spentUsd += usd ?? 0;
  }
}
