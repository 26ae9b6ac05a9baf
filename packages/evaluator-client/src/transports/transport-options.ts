import { ConfigurationError } from "../errors.ts";
import { checkOptions, optionsNamed } from "../options.ts";
import { type Environment, programEnvironment } from "../environment.ts";
import type { AnyDispatcher, Fetch, HttpClient } from "../http/http-client.ts";
import { createHttpClient } from "#http-client";

/** Options that every transport takes. */
export interface TransportOptions {
  /** Headers sent with every request; they cannot replace the transport's own. */
  headers?: Readonly<Record<string, string>>;
  /** Sends through this `fetch`. @default undici's own `Pool` on Node, the global `fetch` elsewhere */
  fetch?: Fetch;
  /** On Node, sends through this dispatcher of undici, such as a `ProxyAgent`; its maker closes it. @default one of its own */
  dispatcher?: AnyDispatcher;
  /** Environment variables for the options not given. @default the program's own */
  env?: Environment;
}

/** Checks that a transport has no options but those of every transport and its own. */
export function checkTransportOptions(options: TransportOptions, ...own: readonly string[]): void {
  checkOptions(optionsNamed(...own, "headers", "fetch", "dispatcher", "env"), options);
}

/** One option to read: its name, its variable, and the value the caller gave. */
export interface OptionSource {
  readonly option: string;
  readonly environmentVariable: string;
  readonly given: string | undefined;
  readonly env: Environment | undefined;
  readonly fallback?: string;
}

/** Returns the given value, else the variable's (blank counts as unset), else the fallback. */
export function readOption({ option, environmentVariable, given, env, fallback }: OptionSource) {
  const value = given ?? ((env ?? programEnvironment())[environmentVariable]?.trim() || fallback);
  if (value !== undefined && value !== "") return value;
  const message = `No ${option}: pass the option "${option}" or set ${environmentVariable}.`;
  throw new ConfigurationError(message, { option, environmentVariable });
}

/** Reads an option whose value travels in a header, so that it must be visible ASCII. */
export function readHeaderOption(source: OptionSource): string {
  const value = readOption(source);
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  const { option, environmentVariable } = source;
  const message = `The option "${option}" (${environmentVariable}) has a space, line break or other character that a header cannot carry; its value is not shown here.`;
  throw new ConfigurationError(message, { option, environmentVariable });
}

/** Reads a base URL: http or https, without credentials, query or fragment; no slash at the end. */
export function readBaseUrl(source: OptionSource): string {
  const value = readOption(source);
  const url = URL.canParse(value) ? new URL(value) : null;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url && isHttp && `${url.username}${url.password}${url.search}${url.hash}` === "") {
    return url.href.replace(/(?<!\/)\/+$/, "");
  }
  const { option, environmentVariable } = source;
  const message = `The option "${option}" (${environmentVariable}) is not an http or https URL without credentials, query and fragment, such as https://example.com/v4/ai.`;
  throw new ConfigurationError(message, { option, environmentVariable });
}

/**
 * Returns the transport's own headers and the caller's, which must be sendable and may replace
 * none.
 */
export function mergeHeaders(
  own: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const reserved = new Set(["content-length", "host", ...Object.keys(own).map(lowerCase)]);
  for (const [name, value] of Object.entries(added)) {
    const isSendable = /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value);
    if (isSendable && !reserved.has(lowerCase(name))) continue;
    const problem = isSendable ? "is set by the transport itself" : "cannot be sent";
    const message = `The header ${JSON.stringify(name)} in the option "headers" ${problem}; rename it or leave it out.`;
    throw new ConfigurationError(message, { option: "headers" });
  }
  return { ...own, ...added };
}

/** Returns the HTTP client for the caller's `fetch` or `dispatcher`, or the platform's own. */
export function httpClientFor({ fetch, dispatcher, env }: TransportOptions): HttpClient {
  const isAllowed =
    fetch === undefined || (typeof fetch === "function" && dispatcher === undefined);
  if (isAllowed) return createHttpClient({ fetch, dispatcher, env: env ?? programEnvironment() });
  const message =
    dispatcher === undefined
      ? 'The option "fetch" is no function, such as the global fetch.'
      : 'The options "fetch" and "dispatcher" exclude each other; a dispatcher is for undici alone.';
  throw new ConfigurationError(message, { option: "fetch" });
}

function lowerCase(name: string): string {
  return name.toLowerCase();
}
