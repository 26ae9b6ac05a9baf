import { Agent } from "undici";
import { expect, test, vi } from "vitest";
import type { AnyDispatcher } from "../http/http-client.ts";
import {
  httpClientFor,
  mergeHeaders,
  readBaseUrl,
  readHeaderOption,
  type TransportOptions,
} from "./post-transport.ts";

const source = { variable: "A_KEY" };

function thrownBy(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

test.each<[string | undefined, string | undefined, string | undefined, string]>([
  ["given", "variable", "fallback", "given"],
  [undefined, " variable ", "fallback", "variable"],
  [undefined, " ", "fallback", "fallback"],
  [undefined, undefined, "fallback", "fallback"],
])("reads the option %j, variable %j, fallback %j as %j", (given, variable, fallback, value) => {
  const env = { A_KEY: variable };
  const more = fallback === undefined ? {} : { fallback };
  expect(readHeaderOption({ apiKey: given, env }, "apiKey", { ...source, ...more })).toBe(value);
});

test("reads the program's own environment when it is given none", () => {
  vi.stubEnv("A_KEY", "of-the-program");
  expect(readHeaderOption({}, "apiKey", source)).toBe("of-the-program");
});

test.each([
  ["", {}],
  [undefined, {}],
  [undefined, { A_KEY: "" }],
])("names the option and variable when %j and %j set neither", (given, env) => {
  expect(thrownBy(() => readHeaderOption({ apiKey: given, env }, "apiKey", source))).toMatchObject({
    name: "ConfigurationError",
    message: 'No apiKey: pass the option "apiKey" or set A_KEY.',
    option: "apiKey",
    environmentVariable: "A_KEY",
  });
});

test.each(["!", "~", "sk-0123/+=", "x".repeat(1000)])("takes the header value %j", (given) => {
  expect(readHeaderOption({ apiKey: given, env: {} }, "apiKey", source)).toBe(given);
});

test.each(["a b", " a", "a ", "a\n", "\u007f", "é", "a\tb", "“a”"])(
  "rejects the header value %j without showing it",
  (given) => {
    expect(
      thrownBy(() => readHeaderOption({ apiKey: given, env: {} }, "apiKey", source)),
    ).toMatchObject({
      name: "ConfigurationError",
      message:
        'The option "apiKey" (A_KEY) has a space, line break or other character that a header cannot carry.',
      option: "apiKey",
      environmentVariable: "A_KEY",
    });
  },
);

test.each([
  ["https://service.example", "https://service.example"],
  ["https://service.example/", "https://service.example"],
  ["http://127.0.0.1:8080/v4/ai//", "http://127.0.0.1:8080/v4/ai"],
  ["HTTPS://Service.Example/v4", "https://service.example/v4"],
])("takes the base URL %s as %s", (given, url) => {
  expect(readBaseUrl({ baseUrl: given, env: {} }, source)).toBe(url);
});

test.each([
  "service.example",
  "localhost:8080",
  "ftp://service.example",
  "file:///etc",
  "https://user@service.example",
  "https://:word@service.example",
  "https://service.example/?a=1",
  "https://service.example/#a",
  "https://",
])("rejects the base URL %s", (given) => {
  const address = { baseUrl: given, env: {} };
  expect(thrownBy(() => readBaseUrl(address, { variable: "A_URL" }))).toMatchObject({
    name: "ConfigurationError",
    message:
      'The option "baseUrl" (A_URL) is not an http or https URL without credentials, query and fragment, such as https://example.com/v4/ai.',
    option: "baseUrl",
    environmentVariable: "A_URL",
  });
});

test("puts the caller's headers after the transport's own", () => {
  const own = { Authorization: "Bearer a-key" };
  expect(mergeHeaders(own)).toEqual(own);
  const added = { "x-a!#$%&'*+.^`|~-": "a\tb ~", "x-empty": "" };
  expect(Object.entries(mergeHeaders(own, added))).toEqual(Object.entries({ ...own, ...added }));
});

test.each([
  ["authorization", "x", "is set by the transport itself"],
  ["HOST", "x", "is set by the transport itself"],
  ["Content-Length", "9", "is set by the transport itself"],
  ["x y", "x", "cannot be sent"],
  ["", "x", "cannot be sent"],
  ["x:", "x", "cannot be sent"],
  ["x-a", "a\nb", "cannot be sent"],
  ["x-a", "é", "cannot be sent"],
  ["x-a", "\u007f", "cannot be sent"],
])("rejects the header %j with %j, which %s", (name, value, problem) => {
  const merge = () =>
    mergeHeaders({ Authorization: "Bearer a-key" }, { "x-ok": "1", [name]: value });
  expect(thrownBy(merge)).toMatchObject({
    name: "ConfigurationError",
    message: `The option "headers" has the header ${JSON.stringify(name)}, which ${problem}; rename it or leave it out.`,
    option: "headers",
  });
});

const noFunction = 'The option "fetch" is no function, such as the global fetch.';
const bothGiven = 'The option "fetch" excludes the option "dispatcher", which is for undici alone.';

test.each<[string, { fetch: unknown; dispatcher?: AnyDispatcher }, string]>([
  ["a fetch that is text", { fetch: "https://service.example" }, noFunction],
  ["no fetch but null", { fetch: null }, noFunction],
  ["a fetch beside a dispatcher", { fetch, dispatcher: new Agent() }, bothGiven],
  ["null beside a dispatcher", { fetch: null, dispatcher: new Agent() }, bothGiven],
])("rejects %s", (_, given, message) => {
  const options = { ...given, env: {} } as TransportOptions;
  expect(thrownBy(() => httpClientFor(options))).toMatchObject({
    name: "ConfigurationError",
    message,
    option: "fetch",
  });
});

test("reads the proxies of the given environment, else of the program's own", () => {
  const env = { NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: "no address" };
  const rejected = expect.objectContaining({
    name: "ConfigurationError",
    environmentVariable: "HTTPS_PROXY",
  });
  expect(() => httpClientFor({ env })).toThrow(rejected);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(() => httpClientFor({})).toThrow(rejected);
  expect(() => httpClientFor({ env: {} })).not.toThrow();
});
