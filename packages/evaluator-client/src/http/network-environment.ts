import { BlockList, isIP } from "node:net";
import { ConfigurationError } from "../errors.ts";
import type { HttpClientOptions } from "./http-client.ts";

/** Returns the proxies of the environment, as Node reads them, if `NODE_USE_ENV_PROXY` is 1; else null. */
export function proxiesInUse(env: HttpClientOptions["env"]) {
  if (env["NODE_USE_ENV_PROXY"] !== "1") return null;
  const httpProxy = readProxy(env, "HTTP_PROXY");
  const httpsProxy = readProxy(env, "HTTPS_PROXY") || httpProxy;
  if (httpProxy === "" && httpsProxy === "") return null;
  return { httpProxy, httpsProxy, noProxy: readEither(env, "NO_PROXY").value };
}

function readProxy(env: HttpClientOptions["env"], name: string): string {
  const { value, environmentVariable } = readEither(env, name);
  if (value === "") return "";
  const protocol = URL.canParse(value) ? new URL(value).protocol : null;
  if (protocol === "http:" || protocol === "https:") return value;
  const message = `${environmentVariable} is not the http or https URL of a proxy, such as http://127.0.0.1:3128; its value is not shown here. Correct it, or set NODE_USE_ENV_PROXY to 0.`;
  throw new ConfigurationError(message, { option: "dispatcher", environmentVariable });
}

function readEither(env: HttpClientOptions["env"], name: string) {
  const lower = name.toLowerCase();
  const environmentVariable = env[lower] === undefined ? name : lower;
  return { environmentVariable, value: env[environmentVariable]?.trim() ?? "" };
}

/** Returns whether `NO_PROXY` has the address in a range such as `10.0.0.1-10.0.0.99`, which undici ignores. */
export function isInRange(hostname: string, noProxy: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (isIP(address) === 0) return false;
  const ranges = new BlockList();
  for (const entry of noProxy.split(/[\s,]/)) {
    const [first = "", last = ""] = entry.split("-");
    if (isIP(first) !== 0 && isIP(first) === isIP(last))
      ranges.addRange(first, last, isIP(first) === 6 ? "ipv6" : "ipv4");
  }
  return ranges.check(address, family);
}

/** Returns a sentence for the error of a call that could have gone through a proxy of the environment. */
export function unusedProxyHint(url: string, env: HttpClientOptions["env"]): string {
  if (env["NODE_USE_ENV_PROXY"] === "1") return "";
  const names = new URL(url).protocol === "https:" ? ["HTTPS_PROXY", "HTTP_PROXY"] : ["HTTP_PROXY"];
  const set = names.map((name) => readEither(env, name)).find(({ value }) => value !== "");
  if (set === undefined) return "";
  return ` ${set.environmentVariable} is set but not in use: set NODE_USE_ENV_PROXY=1 to go through that proxy.`;
}

/** Returns whether HTTP/2 may be used: unless `EVALUATOR_HTTP2` is 0. */
export function readHttp2(env: HttpClientOptions["env"]): boolean {
  const value = env["EVALUATOR_HTTP2"]?.trim() || "1";
  if (value === "0" || value === "1") return value === "1";
  const message = `EVALUATOR_HTTP2=${JSON.stringify(value.slice(0, 20))} is neither 0 nor 1; set it to 0 to send over HTTP/1.1 only.`;
  throw new ConfigurationError(message, {
    option: "dispatcher",
    environmentVariable: "EVALUATOR_HTTP2",
  });
}
