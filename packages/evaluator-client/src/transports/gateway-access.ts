import { type Environment, environmentNames } from "../environment.ts";
import { readBaseUrl, readHeaderOption } from "./transport-options.ts";

/** Where the gateway is and with which key, for its transport and its catalog alike. */
export interface GatewayAccess {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly env?: Environment;
}

/** The gateway key of the options or the environment. */
export function readGatewayKey({ apiKey, env }: GatewayAccess): string {
  const environmentVariable = environmentNames.gatewayApiKey;
  return readHeaderOption({ option: "apiKey", environmentVariable, given: apiKey, env });
}

/** The gateway's base URL of the options or the environment, path prefix included. */
export function readGatewayBaseUrl({ baseUrl, env }: GatewayAccess): string {
  return readBaseUrl({
    option: "baseUrl",
    environmentVariable: environmentNames.gatewayBaseUrl,
    given: baseUrl,
    env,
    fallback: "https://ai-gateway.vercel.sh/v4/ai",
  });
}
