import { once } from "node:events";
import { createSecureServer } from "node:http2";
import { connect, createServer, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { start } from "../testing/http2-server.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { listenOnSocket, type Respond } from "../testing/socket-server.ts";
import { trustedCertificate } from "../testing/trusted-certificate.ts";
import { Http2Session } from "./http2-session.ts";
import { UndiciExchange } from "./undici-exchange.ts";
import { createHttpClient } from "./undici-http-client.ts";
import { WholeResponse } from "./whole-response.ts";

/** Connects a session through a relay that may stop, to a server that answers all but "hang", and "begin" in part. */
async function openSession() {
  const server = createSecureServer(trustedCertificate());
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.on("data", (bytes) => {
      if (String(bytes) === "hang") return;
      stream.respond({ ":status": 200 });
      if (String(bytes) === "begin") stream.write("half");
      else stream.end("{}");
    });
  });
  const target = await start(server);
  const sockets: Socket[] = [];
  const relay = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    sockets.push(near, far);
    near.on("error", () => undefined).pipe(far);
    far.on("error", () => undefined).pipe(near);
  });
  const port = await start(relay);
  const socket = connectTls({ port, host: "127.0.0.1", ALPNProtocols: ["h2"] });
  await once(socket, "secureConnect");
  const clock = new ManualClock();
  const onChange = vi.fn<() => void>();
  const onUnprocessed = vi.fn<() => void>();
  const origin = `https://127.0.0.1:${port}`;
  const session = new Http2Session(origin, socket, {
    streamLimit: 2,
    clock,
    onChange,
    onUnprocessed,
  });
  onTestFinished(() => {
    socket.destroy();
    for (const each of sockets) each.destroy();
  });
  const post = (body: string, signal = new AbortController().signal) => {
    const endpoint = { method: "POST", url: `${origin}/path`, headers: {} } as const;
    const http1 = { path: "/path", method: "POST" } as const;
    const http2Headers = { ":method": "POST", ":path": "/path" };
    const request = { endpoint, hint: "", http1, http2Headers };
    const receiver = new WholeResponse(request);
    session.send(new UndiciExchange(request, body, { abortable: { signal }, receiver }));
    return receiver.response;
  };
  const changed = () => new Promise<void>((resolve) => onChange.mockImplementationOnce(resolve));
  const stop = () => sockets.forEach((each) => each.unpipe().pause());
  return { session, clock, post, changed, stop };
}

test("after 30 s of silence, takes a call when a ping has an answer", async () => {
  const { session, clock, post, changed } = await openSession();
  expect(await post("{}")).toMatchObject({ text: "{}" });
  await clock.advance(29_999);
  expect(session.takesRequests()).toBe(true);
  await clock.advance(2);
  const answered = changed();
  expect(session.takesRequests()).toBe(false);
  await answered;
  expect(session.takesRequests()).toBe(true);
  expect(clock.waiting).toBe(0);
});

test("ends a session whose server is gone 2 s after an abort, and with it all calls", async () => {
  const { session, clock, post, stop } = await openSession();
  expect(await post("{}")).toMatchObject({ text: "{}" });
  stop();
  await clock.advance(1);
  const controller = new AbortController();
  const aborted = post("hang", controller.signal);
  const other = post("hang").catch((error: unknown) => error);
  controller.abort("too slow");
  await expect(aborted).rejects.toBe("too slow");
  await clock.advance(1999);
  expect(session.isOver).toBe(false);
  await clock.advance(1);
  expect(await other).toMatchObject({ name: "ConnectionError", maybeBilled: true });
  expect(session.isOver).toBe(true);
});

test("ends a session whose server is gone while calls wait, also one that takes no more calls", async () => {
  for (const isDraining of [false, true]) {
    const { session, clock, post, stop } = await openSession();
    expect(await post("{}")).toMatchObject({ text: "{}" });
    stop();
    const lost = post("hang").catch((error: unknown) => error);
    if (isDraining) session.drainSession();
    await clock.advance(3000);
    expect(session.takesRequests()).toBe(false);
    await clock.advance(2000);
    expect(await lost).toMatchObject({ name: "ConnectionError", maybeBilled: true });
    expect(clock.waiting).toBe(0);
  }
});

test("an answer that has begun when its server is gone is not whole", async () => {
  const { session, clock, post, stop } = await openSession();
  const heard = vi.spyOn(WholeResponse.prototype, "onChunk");
  const begun = post("begin").catch((error: unknown) => error);
  await expect.poll(() => heard.mock.calls.length).toBe(1);
  stop();
  await clock.advance(3000);
  await clock.advance(3000);
  await clock.advance(2000);
  expect(session.isOver).toBe(true);
  expect(await begun).toMatchObject({ name: "ConnectionError", maybeBilled: true });
});

test("an answer that is reset without an error is not whole, and one that has ended is", async () => {
  const frame = (type: number, flags: number, payload: Iterable<number>) => {
    const bytes = [...payload];
    return [0, 0, bytes.length, type, flags, 0, 0, 0, 1, ...bytes];
  };
  const reset = frame(3, 0, [0, 0, 0, 0]);
  const answer = (endStream: number) =>
    Buffer.from([...frame(1, 4, [0x88]), ...frame(0, endStream, Buffer.from("{}")), ...reset]);
  for (const endStream of [0, 1]) {
    const respond: Respond = (socket, index, preface) => {
      if (index > 0) return;
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])); // its settings
      const onBody = (bytes: Buffer | string) =>
        bytes.includes("question") && socket.write(answer(endStream));
      onBody(preface);
      socket.on("data", onBody);
    };
    const certificate = { ...trustedCertificate(), hasHttp2: "as bytes" } as const;
    await using server = await listenOnSocket(respond, certificate);
    const http = createHttpClient({ env: {} });
    const send = http.prepare({ method: "POST", url: server.origin, headers: {} });
    const asked = send("question", new AbortController()).catch((error: unknown) => error);
    const whole = { status: 200, text: "{}" };
    const cut = { name: "ConnectionError", maybeBilled: true };
    expect(await asked).toMatchObject(endStream === 1 ? whole : cut);
  }
});

test.each([false, true])(
  "waits for an answer that takes long while the server answers pings; takes no more calls: %s",
  async (isDraining) => {
    const { session, clock, post } = await openSession();
    const controller = new AbortController();
    const slow = post("hang", controller.signal);
    expect(await post("{}")).toMatchObject({ text: "{}" });
    if (isDraining) session.drainSession();
    for (let silence = 0; silence < 6; silence++) {
      await clock.advance(3000);
      await expect.poll(() => clock.waiting).toBe(1); // the ping has an answer
      expect(session.takesRequests()).toBe(!isDraining);
    }
    controller.abort("enough");
    await expect(slow).rejects.toBe("enough");
    await expect.poll(() => clock.waiting).toBe(0);
  },
);

test("is full at its limit, and has room again when a call ends", async () => {
  const { session, post } = await openSession();
  const controller = new AbortController();
  const first = post("hang", controller.signal);
  const second = post("{}");
  expect([session.isFull, session.takesRequests()]).toEqual([true, false]);
  expect(await second).toMatchObject({ text: "{}" });
  controller.abort("enough");
  await expect(first).rejects.toBe("enough");
  expect(session.takesRequests()).toBe(true);
});

test("a process that is blocked while a ping is answered keeps its session", async () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    const server = require("node:http2").createSecureServer(workerData);
    const tell = () => { Atomics.store(workerData.flag, 0, 1); Atomics.notify(workerData.flag, 0); };
    server.on("session", (session) => session.on("ping", () => setImmediate(tell)));
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
  `;
  const worker = new Worker(program, { eval: true, workerData: { ...trustedCertificate(), flag } });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = (await once(worker, "message")) as [number];
  const socket = connectTls({ port, host: "127.0.0.1", ALPNProtocols: ["h2"] });
  await once(socket, "secureConnect");
  let nowMs = 0;
  const timers: (() => void)[] = [];
  const schedule = (_: number, callback: () => void) => (timers.push(callback), () => undefined);
  const clock = { now: () => nowMs, epochNow: () => nowMs, schedule };
  const settings = Promise.withResolvers<void>();
  const listener = { onChange: settings.resolve, onUnprocessed: () => undefined };
  const session = new Http2Session(`https://127.0.0.1:${port}`, socket, {
    streamLimit: 2,
    clock,
    ...listener,
  });
  await settings.promise;
  nowMs = 30_001;
  expect(session.takesRequests()).toBe(false);
  await nextTurn(); // the ping is written
  expect(Atomics.wait(flag, 0, 0, 10_000)).not.toBe("timed-out");
  timers[0]?.();
  await nextTurn();
  await nextTurn();
  expect(session.takesRequests()).toBe(true);
  socket.destroy();
});
