import type { VirtualTime } from "../time/virtual-time.ts";

/** The properties of a simulation, in the order of the results; each holds for each seed. */
export const properties = [
  "nothing-lost",
  "nothing-wrong",
  "order",
  "asked",
  "budget",
  "money",
  "rate",
  "secret",
  "memory",
  "returned",
  "ends",
  "same-trace",
] as const;
export type Property = (typeof properties)[number];

/** The first break of a property. */
export interface Break {
  readonly property: Property;
  /** What was seen, such as "131 > 120 + 8". */
  readonly seen: string;
  readonly atMs: number;
}

/** Collects the properties that do not hold. */
export class Checks {
  readonly #time: VirtualTime;
  readonly #breaks = new Map<Property, Break>();
  readonly #counts = new Map<Property, number>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Returns how often a property was broken. */
  count(property: Property): number {
    return this.#counts.get(property) ?? 0;
  }

  /** Notes that a property does not hold; its first break is kept. */
  fail(property: Property, seen: string): void {
    this.#counts.set(property, this.count(property) + 1);
    if (this.#breaks.has(property)) return;
    this.#breaks.set(property, { property, seen, atMs: this.#time.nowMs });
  }

  /** Notes that a property does not hold unless `holds`. */
  expect(property: Property, holds: boolean, seen: () => string): void {
    if (!holds) this.fail(property, seen());
  }

  /** Returns the earliest break, or null. */
  get first(): Break | null {
    const [first] = this.#breaks.values();
    return first ?? null;
  }
}
