import type { Environment } from "evaluator-kit";
import { apiKeyVariables } from "evaluator-client";
import { NotRunError } from "./live-context.ts";

/** Both ways to the model; null where the environment holds no key. */
export type LiveServices = ReturnType<typeof readLiveServices>;

/** The variable that holds each transport's key. */
export const keyVariables = {
  gateway: apiKeyVariables.gateway,
  direct: apiKeyVariables.direct,
} as const;

/**
 * Reads keys and base URLs from the environment; blank counts as unset.
 *
 * @throws {NotRunError} when one cannot be sent; names the variable, never its value.
 */
export function readLiveServices(env: Environment) {
  const read = (keyVariable: string, urlVariable: string, fallback: string) => {
    const apiKey = env[keyVariable] ?? "";
    if (apiKey === "") return null;
    checkKey(apiKey, keyVariable);
    return { apiKey, baseUrl: parseBaseUrl(env[urlVariable] ?? fallback, urlVariable) };
  };
  return {
    gateway: read(keyVariables.gateway, "EVALUATOR_BASE_URL", "https://ai-gateway.vercel.sh/v4/ai"),
    direct: read(keyVariables.direct, "EVALUATOR_DIRECT_BASE_URL", "https://api.typesafe.ai"),
  };
}

// Node's fetch repeats a header it cannot send in its error.
function checkKey(apiKey: string, variable: string): void {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new NotRunError(
    `${variable} holds a space, line break or other character no header takes.`,
  );
}

/** Returns an address without a slash at its end. */
function parseBaseUrl(text: string, variable: string): string {
  const url = URL.parse(text);
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url && isHttp && `${url.username}${url.password}${url.search}${url.hash}` === "") {
    return url.href.replace(/(?<!\/)\/+$/, "");
  }
  throw new NotRunError(
    `${variable} is not an http or https URL without credentials, query and fragment.`,
  );
}

const gatewayPrefix = "/v4/ai";

/**
 * Returns where an exchange's request goes at a live service. The gateway's base URL stands for
 * `/v4/ai`;
 * its other paths are at the host root (contract, placeholders).
 *
 * @param path - As the exchange has it.
 */
export function exchangeUrl(
  path: string,
  transport: "gateway" | "direct",
  baseUrl: string,
): string {
  if (transport === "direct") return baseUrl + path;
  if (path.startsWith(`${gatewayPrefix}/`)) return baseUrl + path.slice(gatewayPrefix.length);
  return new URL(baseUrl).origin + path;
}
