import { CliError } from "evaluator-kit";
import type { Ledger } from "./ledger.ts";
import { hasBudget, roomOf, toUsd } from "./room.ts";
import type { RouterKey } from "./router-key.ts";

/** What one budget has spent, in US dollars. */
type Spending = Awaited<ReturnType<typeof spendingOf>>[number];

/** Returns the spending of each budget with a limit. @throws CliError if the ledger cannot be used */
export async function spendingOf(keys: readonly RouterKey[], ledger: Pick<Ledger, "spent">) {
  const limited = keys.filter(hasBudget);
  const rows = [...Map.groupBy(limited, ({ budget }) => budget)].map(async ([budget, users]) => {
    const [key] = users as [RouterKey];
    const spent = await ledger.spent(key);
    return {
      budget,
      keys: users.map(({ name }) => name),
      dayUsd: toUsd(spent.dayNano),
      monthUsd: toUsd(spent.monthNano),
      reservedUsd: toUsd(spent.reservedNano),
      limitDayUsd: key.usdPerDay,
      limitMonthUsd: key.usdPerMonth,
      requests: spent.requests,
      resetAt: new Date(roomOf(key, spent).resetAtMs).toISOString(),
    };
  });
  return Promise.all(rows).catch((cause: unknown) => {
    const problem = cause instanceof Error ? cause.message : "unknown error";
    throw new CliError(`The ledger of the budgets cannot be used: ${problem}.`, { cause });
  });
}

/** Describes spending, a line for each budget. */
export function describeSpending(rows: readonly Spending[]): string {
  if (rows.length === 0) return "No key has a budget.";
  return rows.map(toLine).join("\n");
}

function toLine({ budget, keys, dayUsd, monthUsd, ...row }: Spending): string {
  const day = `$${dayUsd.toFixed(4)}${ofLimit(row.limitDayUsd)} today`;
  const month = `$${monthUsd.toFixed(4)}${ofLimit(row.limitMonthUsd)} this month`;
  const reserved = `$${row.reservedUsd.toFixed(4)} reserved`;
  return `${budget} (${keys.join(", ")}): ${day}, ${month}, ${reserved}; reset at ${row.resetAt}`;
}

function ofLimit(usd: number | null): string {
  return usd === null ? "" : ` of $${usd}`;
}
