import { type Ask, type TargetSetUp, answersIn } from "./target.ts";
import { gatewayHeaders as headers } from "../sample-requests.ts";

/** Opens Node's own `fetch`, as one writes it by hand. */
export function openGlobalFetch({ addresses }: TargetSetUp): Ask {
  const url = `${addresses.gateway}/evaluation-model`;
  return async ({ state, questions }) => {
    const body = JSON.stringify({ state, questions });
    const response = await fetch(url, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`Status ${response.status}: ${await response.text()}`);
    return answersIn(await response.json());
  };
}
