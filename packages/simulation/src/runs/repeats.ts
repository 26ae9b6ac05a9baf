import type { Caller, RequestFollower } from "../service/model-service.ts";
import type { World } from "../world.ts";
import { mailIn, timesIn } from "./mail-source.ts";

/** Follows the answers of each worker: it asks about no record that it has the answer to. */
export class Repeats implements RequestFollower {
  readonly #world: World;
  readonly #answered = new WeakMap<Caller, Map<number, number>>();

  constructor(world: World) {
    this.#world = world;
  }

  ended(caller: Caller, body: string, usd: number | null): void {
    if (usd === null || usd === 0) return;
    const answered = this.#answered.get(caller) ?? new Map<number, number>();
    this.#answered.set(caller, answered);
    const mail = mailIn(body);
    const times = (answered.get(mail) ?? 0) + 1;
    answered.set(mail, times);
    const seen = () => `${caller.name} has ${times} answers about mail ${mail}`;
    this.#world.checks.expect("asked", times <= timesIn(mail), seen);
  }
}
