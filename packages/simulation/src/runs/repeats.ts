import type { Caller, RequestFollower } from "../service/model-service.ts";
import type { World } from "../world.ts";
import { mailIn, timesIn } from "./mail-source.ts";

/**
 * Follows the answers about each record: no process asks about one that it has the answer to, and
 * together they ask again only about those that were in flight at a kill or a lost lease.
 */
export class Repeats implements RequestFollower {
  readonly #world: World;
  readonly #answeredBy = new WeakMap<Caller, Map<number, number>>();
  readonly #answered = new Map<number, number>();
  /** How many calls about each mail were cut off. */
  readonly #cutOff = new Map<number, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Calls about a mail were in flight when their process died or lost its lease. */
  cutOff(mail: number, times: number): void {
    addTo(this.#cutOff, mail, times);
  }

  ended(caller: Caller, body: string, usd: number | null): void {
    if (usd === null || usd === 0) return;
    const { checks } = this.#world;
    const mail = mailIn(body);
    const answeredBy = this.#answeredBy.get(caller) ?? new Map<number, number>();
    this.#answeredBy.set(caller, answeredBy);
    const own = addTo(answeredBy, mail, 1);
    const seen = () => `${caller.name} has ${own} answers about mail ${mail}`;
    checks.expect("asked", own <= timesIn(mail), seen);
    const all = addTo(this.#answered, mail, 1);
    const most = timesIn(mail) + (this.#cutOff.get(mail) ?? 0);
    checks.expect("asked", all <= most, () => `mail ${mail} has ${all} answers > ${most}`);
  }
}

function addTo(counts: Map<number, number>, mail: number, times: number): number {
  const count = (counts.get(mail) ?? 0) + times;
  counts.set(mail, count);
  return count;
}
