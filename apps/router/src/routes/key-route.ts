import type { Context, Hono } from "hono";
import { describeBudget, hasBudget } from "../keys/budget-state.ts";
import type { Ledger } from "../keys/ledger.ts";
import type { RouterKey } from "../keys/router-key.ts";
import { HttpError } from "../http-error.ts";
import type { ClientEnv } from "./client-request.ts";

/** The answer of `GET /v1/key`: the limits of the key that asks, without its token. */
export interface KeyStatus extends Partial<Omit<RouterKey, "name" | "budget" | keyof Limits>> {
  /** Null if the router has no keys. */
  readonly name: string | null;
  /** Null without a limit in US dollars. */
  readonly budget: ReturnType<typeof describeBudget> | null;
}

type Limits = Pick<RouterKey, "usdPerDay" | "usdPerMonth">;

/** Adds the route on which the holder of a key reads its limits and the rest of its budget. */
export function addKeyRoute(app: Hono<ClientEnv>, ledger: Ledger | null): void {
  app.get("/v1/key", async (c: Context<ClientEnv>) => {
    const { key } = c.var;
    const status = key === null ? { name: null, budget: null } : await statusOf(key, ledger);
    return c.json(status satisfies KeyStatus, 200, { "Cache-Control": "no-store" });
  });
}

async function statusOf(key: RouterKey, ledger: Ledger | null): Promise<KeyStatus> {
  const { budget: _name, usdPerDay: _day, usdPerMonth: _month, ...limits } = key;
  if (ledger === null || !hasBudget(key)) return { ...limits, budget: null };
  const state = await ledger.state(key).catch(refuse);
  return { ...limits, budget: describeBudget(key, state) };
}

function refuse(): never {
  throw new HttpError(503, "The ledger of the budgets cannot be read; try again.");
}
