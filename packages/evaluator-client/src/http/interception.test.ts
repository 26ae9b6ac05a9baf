import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { compileCache } from "evaluator-kit/compile-cache";
import { expect, onTestFinished, test, vi } from "vitest";
import { httpResponse, listenOnSocket, servers } from "../testing/socket-server.ts";
import { trustedCertificate } from "../testing/trusted-certificate.ts";
import { UndiciExchange } from "./undici-exchange.ts";
import { createHttpClient } from "./undici-http-client.ts";

const realAnswer = httpResponse(
  200,
  JSON.stringify({
    answers: { sure: { type: "boolean", probability: 0.75 } },
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    usage: { inputTokens: 3, outputTokens: 1 },
    warnings: ["real"],
    providerMetadata: {},
  }),
);
// The other orders, before and after the SDK is imported, are tested with the packed client; so is
// nock, which replaces what every socket connects with and needs nothing of ours.
const order = "after a first real call";

// One program, in which each is taken away before the next: the real call before each shows that
// nothing of the one before is left.
test.each(servers)(
  `%s: nothing leaves with msw, MockAgent or fetch set up ${order}`,
  async (_, listen) => {
    await using server = await listen((socket) => socket.write(realAnswer));
    const program = fileURLToPath(new URL("../testing/intercepted-program.ts", import.meta.url));
    const index = new URL("../index.ts", import.meta.url).href;
    const words = [program, index, "msw,MockAgent,fetch", order, server.origin];
    const env = { ...compileCache, NODE_EXTRA_CA_CERTS: writeCertificate() };
    const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.on("data", (text) => (printed += String(text)));
    await once(child, "close");
    expect(printed).toBe("first: real\nthen: intercepted\n".repeat(3));
    expect(server.requests).toHaveLength(3);
  },
);

function writeCertificate(): string {
  const folder = mkdtempSync(join(tmpdir(), "certificate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "certificate.pem");
  writeFileSync(path, trustedCertificate().cert);
  return path;
}

test.each(servers)(
  "%s: what replaces the connect of all sockets sees the next call, though a connection is open",
  async (_, listen) => {
    await using server = await listen((socket) => socket.write(realAnswer));
    const http = createHttpClient({ env: {} });
    const send = http.prepare({ method: "POST", url: `${server.origin}/path`, headers: {} });
    const { signal } = new AbortController();
    const call = async () => {
      const response = await send("{}", { signal });
      await nextTurn(); // in which its connection is free again
      return response;
    };
    await call();
    await call();
    expect(server.connections).toBe(1);

    const connect = vi.spyOn(Socket.prototype, "connect");
    expect(await call()).toMatchObject({ status: 200 });
    expect([connect.mock.calls.length, server.connections]).toEqual([1, 2]);
    await http.close();
  },
);

test("a global dispatcher of undici 6 or 7 gets the call from Node's own fetch, whose handlers it takes", async () => {
  const older = Symbol.for("undici.globalDispatcher.1");
  const before: unknown = Reflect.get(globalThis, older);
  onTestFinished(() => void Reflect.set(globalThis, older, before));
  const handlers: unknown[] = [];
  const dispatcher = {
    dispatch(_: object, handler: { onError(error: Error): void }) {
      handlers.push(handler);
      handler.onError(new Error("enough"));
    },
  };
  Reflect.set(globalThis, older, dispatcher);
  const endpoint = { method: "POST", url: "http://service.example/path", headers: {} } as const;
  const send = createHttpClient({ env: {} }).prepare(endpoint);
  await expect(send("{}", new AbortController())).rejects.toThrow("service.example");
  expect(handlers).toHaveLength(1);
  expect(handlers[0]).not.toBeInstanceOf(UndiciExchange);
});

test.each([
  ["loads undici first", 'import "undici";'],
  ["does not", ""],
])(
  "in a bundle that %s, undici's dispatchers of other names are not the program's",
  async (_, first) => {
    await using server = await listenOnSocket((socket) => socket.write(realAnswer));
    const program = `
    ${first}
    import { createHttpClient } from "./undici-http-client.ts";
    const endpoint = { method: "POST", url: "${server.origin}/", headers: {} };
    const send = createHttpClient({ env: {} }).prepare(endpoint);
    void send("{}", new AbortController()).then(() => send("{}", new AbortController()));
  `;
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: import.meta.dirname, loader: "ts" },
      bundle: true,
      minify: true,
      write: false,
      platform: "node",
    });
    const child = spawn(process.execPath, ["-"], { stdio: ["pipe", "inherit", "inherit"] });
    child.stdin.end(outputFiles[0]?.text);
    await once(child, "close");
    expect(server.requests).toHaveLength(2);
    // Node's own fetch adds these.
    expect(server.requests.join("")).not.toMatch(/sec-fetch-mode|user-agent/i);
  },
);
