import type { KeyStatus } from "../../keys/key-status.ts";
import { byId, usdLeft } from "./elements.ts";

/** Shows the rest of the key's budget, and warns if it ends soon. Asked only after a message, when the browser has a key. */
export async function showBudget(): Promise<void> {
  const response = await fetch("/v1/key").catch(() => null);
  if (response?.ok !== true) return;
  const { name, budget } = (await response.json()) as KeyStatus;
  if (budget === null) return;
  const budgetLine = byId("budget");
  const resetText = new Date(budget.resetAt).toLocaleString();
  const budgetText = `Budget of ${name}: ${usdLeft(budget.remainingUsd)} left until ${resetText}.`;
  budgetLine.textContent = budget.isNear
    ? `${budgetText} It is nearly spent: at most the cheapest tier answers.`
    : budgetText;
  budgetLine.className = budget.isNear ? "banner" : "";
  budgetLine.hidden = false;
}
