import type { TokenMeter } from "../reply/usage.ts";
import { addUsage } from "../reply/usage-forms.ts";

/** Returns the usage in a service's body, chunk or event; null if it has none. */
export function usageIn(event: unknown): TokenMeter["reported"] {
  const meter: TokenMeter = { written: 0, reported: null };
  addUsage(meter, event);
  return meter.reported;
}
