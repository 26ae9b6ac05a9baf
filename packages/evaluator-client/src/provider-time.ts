import { isRecord, listAt } from "./questions/json.ts";

/** Returns the time of the provider attempt that answered, in milliseconds (contract section 2.5), or null. */
export function readProviderMs(gateway: unknown): number | null {
  for (const modelAttempt of listAt(gateway, "routing", "modelAttempts")) {
    for (const attempt of listAt(modelAttempt, "providerAttempts")) {
      if (!isRecord(attempt) || attempt["success"] !== true) continue;
      const { startTime, endTime } = attempt;
      const areTimes = typeof startTime === "number" && typeof endTime === "number";
      const elapsedMs = areTimes ? endTime - startTime : Number.NaN;
      return Number.isFinite(elapsedMs) && elapsedMs >= 0 ? elapsedMs : null;
    }
  }
  return null;
}
