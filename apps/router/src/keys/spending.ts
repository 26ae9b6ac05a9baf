import { CliError } from "evaluator-kit";
import { hasBudget, reservedNano, roomOf } from "./budget-state.ts";
import type { Ledger } from "./ledger.ts";
import type { RouterKey } from "./router-key.ts";

/** Returns the spending of each budget with a limit. @throws CliError if the ledger cannot be used */
export async function spendingOf(keys: readonly RouterKey[], ledger: Pick<Ledger, "state">) {
  const budgets = Map.groupBy(keys.filter(hasBudget), ({ budget }) => budget);
  const rows = [...budgets.values()].map(async (users) => {
    const [key] = users as [RouterKey];
    const state = await ledger.state(key);
    return {
      budget: key.budget,
      keys: users.map(({ name }) => name),
      dayUsd: state.dayNano / 1e9,
      monthUsd: state.monthNano / 1e9,
      reservedUsd: reservedNano(state) / 1e9,
      limitDayUsd: key.usdPerDay,
      limitMonthUsd: key.usdPerMonth,
      requests: state.requests,
      resetAt: new Date(roomOf(key, state).resetAtMs).toISOString(),
    };
  });
  return Promise.all(rows).catch((cause: unknown) => {
    const problem = cause instanceof Error ? cause.message : "unknown error";
    throw new CliError(`The ledger of the budgets cannot be used: ${problem}.`, { cause });
  });
}
