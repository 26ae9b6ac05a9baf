import { type Decider, describeDecider, type TierEntry } from "../../decision/decision.ts";
import type { Tier } from "../../decision/tier-question.ts";
import { byId, copyOf, partOf } from "./elements.ts";

/** The tiers, from the cheapest to the most expensive. */
export const tiers: readonly Tier[] = ["nano", "fast", "balanced", "frontier"];

/** Shows every tier with its model and prices, before anything is asked. */
export async function showTiers(): Promise<void> {
  try {
    const response = await fetch("/tiers");
    if (!response.ok) return;
    const entries = (await response.json()) as readonly TierEntry[];
    byId("tiers").replaceChildren(...entries.map(toEntry));
    byId("tiers").hidden = false;
  } catch {
    // The page works without the list.
  }
}

function toEntry({ tier, model, price }: TierEntry): HTMLElement {
  const entry = copyOf("tier");
  entry.dataset["tier"] = tier;
  partOf(entry, ".tier-name").textContent = tier;
  partOf(entry, ".tier-model").textContent = model;
  partOf(entry, ".tier-price").textContent =
    price === null
      ? "price unknown"
      : `$${price.inputUsdPerMillionTokens} in, $${price.outputUsdPerMillionTokens} out`;
  return entry;
}

/** Shows who made the latest decision. */
export async function showDecider(): Promise<void> {
  const response = await fetch("/readyz").catch(() => null);
  const body = (await response?.json().catch(() => null)) as { decider?: Decider } | null;
  if (body?.decider === undefined) return;
  const { modelId, isEmulated } = body.decider;
  const line = byId("decider");
  line.hidden = isEmulated === true && modelId === null; // the notice already shows this
  line.className = isEmulated === true ? "banner" : "engine";
  line.textContent =
    isEmulated === null
      ? "No model has answered yet, so the deciding model is unknown."
      : `The latest decision was made by ${describeDecider(body.decider)}.`;
}
