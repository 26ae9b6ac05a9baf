import type { CatalogModel } from "../catalog/models.ts";
import type { Account } from "./account.ts";

/** Calls of one model a free-tier account may make within the window; the emulator's own figure. */
export const freeTierBurst = 3;
const windowMs = 60_000;

/** Why the free tier refuses a call; both are the same wall (contract section 7, rule 1). */
export type FreeTierRefusal = "no-access" | "rate-limited";

/** Counts a call against the free tier and says whether it is refused; null lets it through. */
export function meetFreeTierWall(
  account: Account,
  model: CatalogModel,
  nowMs: number,
): FreeTierRefusal | null {
  if (account.tier === "paid") return null;
  if (!model.isOnFreeTier) return "no-access";
  const recent = (account.calls.get(model.id) ?? []).filter((time) => time > nowMs - windowMs);
  if (recent.length >= freeTierBurst) return "rate-limited";
  account.calls.set(model.id, [...recent, nowMs]);
  return null;
}
