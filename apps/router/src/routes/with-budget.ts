import type { MiddlewareHandler } from "hono";
import { hasBudget } from "../keys/budget-state.ts";
import type { CallBudget } from "../keys/call-budget.ts";
import type { RouterKey } from "../keys/router-key.ts";
import type { ClientEnv } from "./client-request.ts";

/** Opens the budget of a call's key, and adds the headers of its rest to the answer. */
export function withBudget(open: (key: RouterKey) => CallBudget): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const routerKey = c.get("key");
    const callBudget = routerKey !== null && hasBudget(routerKey) ? open(routerKey) : null;
    c.set("budget", callBudget);
    await next();
    if (callBudget === null) return;
    if (c.error !== undefined) await callBudget.settle(0, 0); // nothing, if the call was settled before
    for (const [name, value] of Object.entries(callBudget.headers())) c.header(name, value);
  };
}
