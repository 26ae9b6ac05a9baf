import { z } from "zod";
import type { UpstreamType } from "../conversation/to-call-options.ts";

const problem =
  "is not an http or https URL without user name, password, query and fragment, such as http://127.0.0.1:11434/v1";

/** The schema of a server's address, which holds no secret. */
export const serverUrlSchema = z
  .url({ protocol: /^https?$/, error: problem, abort: true })
  .refine((url) => {
    const { username, password, search, hash } = new URL(url);
    return `${username}${password}${search}${hash}` === "";
  }, problem);

/** Returns an address with the `/v1` of OpenAI's APIs and without that of Anthropic's, which people often omit or add. */
export function toServerUrl(url: string, type: UpstreamType): string {
  const { href, pathname } = new URL(url);
  const address = href.replace(/(?<!\/)\/+$/, "");
  if (type.startsWith("openai")) return pathname === "/" ? `${address}/v1` : address;
  return type === "anthropic" ? address.replace(/\/v1$/, "") : address;
}
