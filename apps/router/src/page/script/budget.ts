import type { KeyStatus } from "../../keys/key-status.ts";
import { byId, usdLeft } from "./elements.ts";

/** Shows the rest of the key's budget, and warns if it ends soon. Asked only after a message, when the browser has a key. */
export async function showBudget(): Promise<void> {
  const response = await fetch("/v1/key").catch(() => null);
  if (response?.ok !== true) return;
  const { name, budget } = (await response.json()) as KeyStatus;
  if (budget === null) return;
  const line = byId("budget");
  const reset = new Date(budget.resetAt).toLocaleString();
  const rest = `Budget of ${name}: ${usdLeft(budget.remainingUsd)} left until ${reset}.`;
  line.textContent = budget.isNear
    ? `${rest} It is nearly spent: at most the cheapest tier answers.`
    : rest;
  line.className = budget.isNear ? "banner" : "";
  line.hidden = false;
}
