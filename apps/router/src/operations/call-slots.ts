/** A place among the calls in flight. */
export interface Slot {
  /** Keeps the place beyond the handler's end, for a stream that goes on. */
  readonly hold: () => void;
  /** Whether somebody holds it and will release it. */
  readonly isHeld: () => boolean;
  readonly release: () => void;
}

/** A fixed number of places for calls that ask a model. */
export interface CallSlots {
  /** Gives a place, or null when all are taken. */
  readonly take: () => Slot | null;
  readonly inUse: () => number;
}

/** Makes places for at most `max` calls at once. */
export function createCallSlots(max: number): CallSlots {
  const taken = new Set<Slot>();
  return {
    inUse: () => taken.size,
    take() {
      if (taken.size >= max) return null;
      let isHeld = false;
      const slot: Slot = {
        hold: () => (isHeld = true),
        isHeld: () => isHeld,
        release: () => taken.delete(slot),
      };
      taken.add(slot);
      return slot;
    },
  };
}
