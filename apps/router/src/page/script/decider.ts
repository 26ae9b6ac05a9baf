import { type Decider, describeDecider } from "../../decision/decision.ts";
import { byId } from "./elements.ts";

/** Shows who made the router's latest decision; a router that is gone is shown at the next message. */
export async function showDecider(): Promise<void> {
  const response = await fetch("/readyz").catch(() => null);
  const body = (await response?.json().catch(() => null)) as { decider?: Decider } | null;
  if (body?.decider === undefined) return;
  const { modelId, isEmulated } = body.decider;
  const line = byId("decider");
  line.hidden = isEmulated === true && modelId === null; // the notice says it
  line.className = isEmulated === true ? "banner" : "engine";
  line.textContent =
    isEmulated === null
      ? "Nothing has answered yet, so who decides is not known."
      : `The latest decision was made by ${describeDecider(body.decider)}.`;
}
