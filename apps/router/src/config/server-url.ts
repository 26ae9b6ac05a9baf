import { z } from "zod";

const problem =
  "is not an http or https URL without user name, password, query and fragment, such as http://127.0.0.1:11434/v1";

/** The schema of a server's address, which holds no secret. */
export const serverUrlSchema = z
  .url({ protocol: /^https?$/, error: problem, abort: true })
  .refine(hasNothingSecret, problem);

function hasNothingSecret(url: string): boolean {
  const { username, password, search, hash } = new URL(url);
  return `${username}${password}${search}${hash}` === "";
}

/** Adds `/v1` to a bare address: servers with OpenAI's API have it there. */
export function withVersion(url: string): string {
  const { href, pathname } = new URL(url);
  return pathname === "/" ? `${href}v1` : withoutLastSlash(href);
}

/** Returns an address that a path can follow. */
export function withoutLastSlash(url: string): string {
  return url.replace(/(?<!\/)\/+$/, "");
}
