import { type Catalog, createCatalog } from "evaluator-client";
import type { OpenTransportOptions } from "./surroundings.ts";
import { transportName } from "./transport-name.ts";

// A price is worth a short wait, and no run fails for want of it.
const limits = { maxRetries: 0, deadlineMs: 3000 };

/** Gives the gateway's price list, which needs no key; null when the gateway is not the way. */
export function openCatalog({ offline, env }: OpenTransportOptions): Catalog | null {
  return offline || transportName(env) !== "gateway" ? null : createCatalog({ env, ...limits });
}
