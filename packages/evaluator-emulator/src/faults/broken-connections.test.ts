import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";
import type { Emulator } from "../serve.ts";
import type { Fault } from "./fault.ts";

// The same faults over a real connection and through `fetch`; both must look alike to a caller.
const emulators: Emulator[] = [];
afterEach(async () => {
  await Promise.all(emulators.splice(0).map((emulator) => emulator.close()));
});

type Get = (path: string, init?: RequestInit) => Promise<Response>;

async function overHttp(fault: Fault): Promise<Get> {
  const emulator = createEmulator({ exchanges: [], faults: [fault] });
  emulators.push(emulator);
  const { origin } = await emulator.listen();
  return (path, init) => fetch(`${origin}${path}`, init);
}

async function inProcess(fault: Fault): Promise<Get> {
  const emulator = createEmulator({ exchanges: [], faults: [fault] });
  return (path, init) => emulator.fetch(path, init);
}

function codeOf(error: unknown): unknown {
  const cause: unknown = error instanceof TypeError ? error.cause : null;
  return cause instanceof Error && "code" in cause ? cause.code : error;
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => "no failure", codeOf);

test.each([
  ["over HTTP", overHttp],
  ["in the process", inProcess],
])("%s, a reset before the response rejects", async (_way, open) => {
  const get = await open({ kind: "reset", next: 1 });
  expect(await failureOf(get("/v1/models"))).toBe("ECONNRESET");
  expect((await get("/v1/models")).status).toBe(200);
});

test.each([
  ["over HTTP", "reset-body", "ECONNRESET", overHttp],
  ["in the process", "reset-body", "ECONNRESET", inProcess],
  ["over HTTP", "cut-body", "UND_ERR_SOCKET", overHttp],
  ["in the process", "cut-body", "UND_ERR_SOCKET", inProcess],
] as const)("%s, %s breaks a body that had begun, with %s", async (_way, kind, code, open) => {
  const get = await open({ kind, next: 1 });
  const response = await get("/v1/models");
  expect(response.status).toBe(200);
  expect(await failureOf(response.text())).toBe(code);
  expect(await failureOf(get("/v1/models").then((whole) => whole.json()))).toBe("no failure");
});

test.each([
  ["over HTTP", overHttp],
  ["in the process", inProcess],
])("%s, a hanging call ends when the caller leaves", async (_way, open) => {
  const get = await open({ kind: "hang" });
  const controller = new AbortController();
  const call = get("/v1/models", { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
});

test("in the process, a hanging call ends when the caller leaves after a collection of garbage", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const get = await inProcess({ kind: "hang" });
  const controller = new AbortController();
  const call = get("/v1/models", { signal: controller.signal });
  for (let round = 0; round < 3; round += 1) {
    await turn();
    collectGarbage();
  }
  controller.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
});

test("closing ends a hanging call", async () => {
  const get = await overHttp({ kind: "hang" });
  const call = failureOf(get("/v1/models"));
  const [emulator] = emulators;
  await expect
    .poll(async () => {
      const log = await emulator?.fetch("/_emulator/requests");
      return JSON.stringify(await log?.json());
    })
    .toContain('"ending":"hang"');
  await emulator?.close();
  expect(await call).toBe("UND_ERR_SOCKET");
});
