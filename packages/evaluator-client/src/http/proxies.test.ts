import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { Agent, ProxyAgent } from "undici";
import { describe, expect, test } from "vitest";
import { createCatalog } from "../catalog/catalog.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { directBody, emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { holdClosedPort } from "../testing/loopback-port.ts";
import { privateFailure, privateKey } from "../testing/private-call.ts";
import { listenAsProxy } from "../testing/proxy-server.ts";
import { httpResponse, listenOnSocket, servers } from "../testing/socket-server.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import type { TransportOptions } from "../transports/post-transport.ts";

const answer = httpResponse(200, JSON.stringify(gatewayBody));

function gatewayTo(baseUrl: string, options: TransportOptions) {
  return gatewayTransport({ apiKey: privateKey, baseUrl, ...options });
}

/** The variables that send everything through a proxy. */
function proxied(origin: string, others: Record<string, string> = {}) {
  return { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: origin, HTTPS_PROXY: origin, ...others };
}

/** Where a tunnel or a forwarded request to this server is asked for. */
function asksFor(origin: string): string {
  const { protocol, host } = new URL(origin);
  return protocol === "https:" ? `CONNECT ${host}` : `POST ${origin}/evaluation-model`;
}

describe.each(servers)("%s", (kind, listen) => {
  test("goes through the proxy of the environment", async () => {
    await using server = await listen((socket) => socket.write(answer));
    await using proxy = await listenAsProxy();
    const env = proxied(proxy.origin.replace("//", "//user:pass%20word@"));
    const evaluator = createEvaluator({ transport: gatewayTo(server.origin, { env }) });
    expect(await evaluator.evaluate(emailRequest)).toMatchObject({ costUsd: 0.000014112 });
    expect(proxy.asked).toEqual([asksFor(server.origin)]);
    expect(proxy.credentials).toEqual([`Basic ${btoa("user:pass word")}`]);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["NO_PROXY", "other.example, 127.0.0.1"],
    ["no_proxy", "*"],
    ["NO_PROXY", "10.0.0.1-10.0.0.9,127.0.0.0-127.0.0.255"],
  ])("goes around the proxy, over HTTP/2 too, where %s is %s", async (name, value) => {
    await using server = await listen((socket) => socket.write(answer));
    await using proxy = await listenAsProxy();
    const env = proxied(proxy.origin, { [name]: value });
    await createEvaluator({ transport: gatewayTo(server.origin, { env }) }).evaluate(emailRequest);
    expect(server.requests[0]).toContain(kind.endsWith("h2") ? " HTTP/2\r\n" : " HTTP/1.1\r\n");
    expect(proxy.asked).toEqual([]);
  });

  test.each([
    ["NO_PROXY", "other.example"],
    ["NO_PROXY", "127.0.0.1:1"],
    ["NO_PROXY", "127.0.0.2-127.0.0.9"],
    ["NO_PROXY", "127.0.0.9-127.0.0.1"],
    ["NO_PROXY", ""],
  ])("goes through the proxy where %s is %j", async (name, value) => {
    await using server = await listen((socket) => socket.write(answer));
    await using proxy = await listenAsProxy();
    const env = proxied(proxy.origin, { [name]: value });
    await createEvaluator({ transport: gatewayTo(server.origin, { env }) }).evaluate(emailRequest);
    expect(proxy.asked).toEqual([asksFor(server.origin)]);
  });

  test.each([
    ["a proxy", (origin: string) => new ProxyAgent(origin), 1],
    ["an agent", () => new Agent(), 0],
  ])("goes through the caller's dispatcher, %s, and leaves it open", async (_name, make, times) => {
    await using server = await listen((socket, index) => {
      const direct = httpResponse(200, JSON.stringify(directBody));
      const models = httpResponse(200, '{"data":[]}');
      socket.write([answer, direct, models][index] ?? "");
    });
    await using proxy = await listenAsProxy();
    const dispatcher = make(proxy.origin);
    const options = { apiKey: privateKey, baseUrl: server.origin, env: {}, dispatcher };
    const [gateway, direct] = [gatewayTransport(options), directTransport(options)];
    await createEvaluator({ transport: gateway }).evaluate(emailRequest);
    await gateway.close?.();
    await createEvaluator({ transport: direct }).evaluate(emailRequest);
    await createCatalog(options).listModels();
    expect(server.requests).toHaveLength(3);
    expect(proxy.asked.length > 0).toBe(times > 0);
    await dispatcher.close();
  });
});

describe.each([
  ["the environment", (origin: string): TransportOptions => ({ env: proxied(origin) })],
  ["a dispatcher", (origin: string) => ({ env: {}, dispatcher: new ProxyAgent(origin) })],
])("a tunnel of %s", (_, optionsFor) => {
  test.each([
    [403, 1, false],
    [407, 1, false],
    [502, 3, true],
  ])("that is rejected with %d was never billed", async (status, attempts, isRetryable) => {
    await using proxy = await listenAsProxy(status);
    const error = await privateFailure(
      gatewayTo("https://service.example", optionsFor(proxy.origin)),
    );
    expect(error).toMatchObject({
      name: "ConnectionError",
      maybeBilled: false,
      isRetryable,
      attempts,
    });
    expect(error.message).toContain(
      `The proxy refused the way to https://service.example (${status}); nothing was sent to the service, and nothing was billed.`,
    );
    expect(proxy.asked).toEqual(
      Array.from({ length: attempts }, () => "CONNECT service.example:443"),
    );
  });
});

test.each([
  ["service.invalid", false],
  [".invalid", false],
  ["*.invalid", false],
  ["SERVICE.invalid.:443", false],
  ["*:443", false],
  ["*.service.invalid", true],
  ["ice.invalid", true],
  ["service.invalid:80", true],
])("where NO_PROXY is %s, the proxy is asked for service.invalid: %s", async (noProxy, isAsked) => {
  await using proxy = await listenAsProxy(403);
  const env = proxied(proxy.origin, { NO_PROXY: noProxy });
  await privateFailure(gatewayTo("https://service.invalid", { env }));
  expect(proxy.asked.length > 0).toBe(isAsked);
});

test.each([
  ["[::1]", "[::2], ::1"],
  ["[::1]:8443", "[::1]:8443"],
  ["[::5]", "::1-::9"],
])("goes around the proxy to %s where NO_PROXY is %s", async (host, noProxy) => {
  await using proxy = await listenAsProxy(403);
  const env = proxied(proxy.origin, { NO_PROXY: noProxy });
  await privateFailure(gatewayTo(`https://${host}`, { env }));
  expect(proxy.asked).toEqual([]);
});

test("goes through the proxy that Node itself was started with", async () => {
  await using server = await listenOnSocket((socket) => socket.write(answer));
  await using proxy = await listenAsProxy();
  const index = new URL("../index.ts", import.meta.url).href;
  const program = `
    const { boolean, createEvaluator, gatewayTransport } = await import(${JSON.stringify(index)});
    const transport = gatewayTransport({ apiKey: "k", baseUrl: "${server.origin}" });
    const asked = createEvaluator({ transport, maxRetries: 0 }).evaluate({
      state: "text", questions: { sure: boolean("Sure?") },
    });
    await asked.catch((error) => process.stdout.write(error.name));
    process.exit();`;
  const argv = ["--input-type=module", "-e", program];
  const env = { ...process.env, ...proxied(proxy.origin), NO_PROXY: "", no_proxy: "" };
  const child = spawn(process.execPath, argv, { env, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (text) => (printed += String(text)));
  await once(child, "close");
  expect(printed).toBe("InvalidResponseError"); // the answer is one to other questions
  expect(proxy.asked).toEqual([`POST ${server.origin}/evaluation-model`]);
});

test.each([
  [{ HTTPS_PROXY: "http://10.255.0.1:1" }, "https", " HTTPS_PROXY is set but not in use"],
  [{ https_proxy: "http://10.255.0.1:1" }, "https", " https_proxy is set but not in use"],
  [{ HTTP_PROXY: "http://10.255.0.1:1", NODE_USE_ENV_PROXY: "0" }, "http", " HTTP_PROXY is set"],
])("says beside a failed connection that %j is not in use", async (env, scheme, words) => {
  using closed = await holdClosedPort();
  const error = await privateFailure(gatewayTo(`${scheme}://${closed.host}`, { env }));
  expect(error).toMatchObject({ maybeBilled: false });
  expect(error.message).toContain(words);
  expect(error.message).toContain("NODE_USE_ENV_PROXY=1");
});

test("names the proxy in use beside a connection that it refuses", async () => {
  using closed = await holdClosedPort();
  const env = { NODE_USE_ENV_PROXY: "1", http_proxy: `http://${closed.host}` };
  const error = await privateFailure(gatewayTo("http://service.example", { env }));
  expect(error).toMatchObject({ maybeBilled: false });
  expect(error.message).toContain(" http_proxy is in use, unless NO_PROXY has the host: check");
});

test("says nothing of proxies where none is set, or where the one for http is", async () => {
  using closed = await holdClosedPort();
  for (const env of [{}, { HTTPS_PROXY: "http://127.0.0.1:1" }]) {
    const error = await privateFailure(gatewayTo(`http://${closed.host}`, { env }));
    expect(error.message).not.toContain("PROXY");
  }
});

test.each([
  ["HTTPS_PROXY", "proxy.example:3128"],
  ["https_proxy", "socks5://quagga@127.0.0.1:1080"],
  ["HTTP_PROXY", "not a URL with quagga"],
])("rejects %s when it is %j", (environmentVariable, value) => {
  const env = { NODE_USE_ENV_PROXY: "1", [environmentVariable]: value };
  const rejected = expect.objectContaining({ name: "ConfigurationError", environmentVariable });
  for (const make of [
    () => gatewayTo("https://service.example", { env }),
    () => createCatalog({ env }),
  ]) {
    expect(make).toThrow(rejected);
    expect(make).not.toThrow("quagga");
  }
});

test.each([null, {}, "http://127.0.0.1:3128", { dispatch: true }])(
  "rejects the dispatcher %j",
  (given) => {
    const dispatcher = given as never;
    const options = { apiKey: "k", baseUrl: "https://service.example", env: {}, dispatcher };
    const rejected = expect.objectContaining({ name: "ConfigurationError", option: "dispatcher" });
    for (const make of [gatewayTransport, directTransport, createCatalog]) {
      expect(() => make(options)).toThrow(rejected);
    }
  },
);

test("rejects a dispatcher beside a fetch, and a fetch that is none", () => {
  const rejected = expect.objectContaining({ name: "ConfigurationError", option: "fetch" });
  const both = { dispatcher: new Agent(), fetch: async () => Response.json({}) };
  expect(() => gatewayTo("https://service.example", both)).toThrow(rejected);
  const none = { fetch: "fetch" as never };
  expect(() => gatewayTo("https://service.example", none)).toThrow(rejected);
});
