import type { HttpEndpoint } from "./http-client.ts";

/** Whether a lost response may have been charged for (evaluations are posted, look-ups are free), and in words. */
export function billingOf({ method }: Pick<HttpEndpoint, "method">) {
  const maybeBilled = method === "POST";
  return { maybeBilled, note: maybeBilled ? "; the request may have been billed" : "" };
}
