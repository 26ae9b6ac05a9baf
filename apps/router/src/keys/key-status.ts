import { HttpError } from "../http-error.ts";
import { describeBudget, hasBudget } from "./budget-state.ts";
import type { Ledger } from "./ledger.ts";
import type { RouterKey } from "./router-key.ts";

type Limits = Omit<RouterKey, "name" | "budget" | "usdPerDay" | "usdPerMonth">;

/** The answer of `GET /v1/key`: the limits of the key that asks, without its token. */
export interface KeyStatus extends Partial<Limits> {
  /** Null if the router has no keys. */
  readonly name: string | null;
  /** Null without a limit in US dollars. */
  readonly budget: ReturnType<typeof describeBudget> | null;
}

/** Returns the limits of a key and the rest of its budget. @throws HttpError 503 if the ledger cannot be read */
export async function keyStatus(key: RouterKey | null, ledger: Ledger | null): Promise<KeyStatus> {
  if (key === null) return { name: null, budget: null };
  const { budget: _name, usdPerDay: _day, usdPerMonth: _month, ...limits } = key;
  if (ledger === null || !hasBudget(key)) return { ...limits, budget: null };
  const state = await ledger.state(key).catch(refuse);
  return { ...limits, budget: describeBudget(key, state) };
}

function refuse(): never {
  throw new HttpError(503, "The ledger of the budgets cannot be read; try again.");
}
