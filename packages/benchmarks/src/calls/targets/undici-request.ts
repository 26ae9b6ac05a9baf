import { request } from "undici";
import type { Ask, TargetSurroundings } from "../target.ts";
import { gatewayHeaders as headers } from "../../exchange/gateway-headers.ts";
import { answersIn } from "./answers-in.ts";

/** What a good engineer writes by hand, and the reference of every ratio. */
export function openUndiciRequest({ addresses }: TargetSurroundings): Ask {
  const url = `${addresses.gateway}/evaluation-model`;
  return async ({ state, questions }) => {
    const sent = JSON.stringify({ state, questions });
    const { statusCode, body } = await request(url, { method: "POST", headers, body: sent });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`Status ${statusCode}: ${text}`);
    return answersIn(JSON.parse(text));
  };
}
