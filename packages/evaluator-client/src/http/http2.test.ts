import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, createSecureServer, type ServerHttp2Stream } from "node:http2";
import { createServer as createHttp1Server } from "node:https";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { ConnectionError, type EvaluatorError } from "../errors.ts";
import { type Call, echo, listenForHttp2, originOf, start } from "../testing/http2-server.ts";
import { trustedCertificate } from "../testing/trusted-certificate.ts";
import { createHttpClient } from "./undici-http-client.ts";

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } =
  constants;

function connect(origin: string, env: Record<string, string> = {}) {
  const http = createHttpClient({ env });
  onTestFinished(() => http.close());
  const headers = { Authorization: "Bearer k", Connection: "keep-alive" };
  const send = http.prepare({ method: "POST", url: `${origin}/path?a=b`, headers });
  const post = (body: string, signal = new AbortController().signal) => send(body, { signal });
  const fail = (body: string) =>
    post(body).then(
      () => expect.unreachable("the call fails"),
      (error: EvaluatorError) => error,
    );
  return { http, post, fail };
}

function bodies(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `{"call":${index}}`);
}

/** Sends all bodies at once, and expects each to be echoed. */
async function expectAllEchoed(origin: string, all: readonly string[]): Promise<void> {
  const { post } = connect(origin);
  const answers = await Promise.all(all.map((body) => post(body)));
  expect(answers.map(({ text }) => text)).toEqual(all);
}

test("sends many calls over one session", async () => {
  const server = await listenForHttp2(echo);
  await expectAllEchoed(server.origin, bodies(64));
  expect(server.sessions).toHaveLength(1);
  expect(server.bodies.toSorted()).toEqual(bodies(64).toSorted());
});

test.each([
  [1, 8],
  [10, 7],
  [100, 1],
])("keeps the limit of %i streams, over %i sessions", async (limit, sessions) => {
  const server = await listenForHttp2(echo, { maxConcurrentStreams: limit });
  await expectAllEchoed(server.origin, bodies(64));
  await expectAllEchoed(server.origin, bodies(64));
  expect(server.sessions.length).toBeLessThanOrEqual(sessions);
  expect(new Set(server.bodies)).toEqual(new Set(bodies(64)));
});

test("sends through windows of one byte", async () => {
  const server = await listenForHttp2(echo, { initialWindowSize: 1 });
  await expectAllEchoed(server.origin, bodies(8));
  expect(server.sessions).toHaveLength(1);
});

test("sends more at once than Node's memory for a session", async () => {
  const server = await listenForHttp2(echo);
  const large = bodies(40).map((body) => body + " ".repeat(400_000));
  await expectAllEchoed(server.origin, large);
  expect(server.bodies).toHaveLength(40);
});

test("sends a refused stream again, five times", async () => {
  const server = await listenForHttp2((call) =>
    call.index < 5 ? call.stream.close(NGHTTP2_REFUSED_STREAM) : echo(call),
  );
  await expectAllEchoed(server.origin, ["{}"]);
  expect(server.bodies).toHaveLength(6);
});

test("gives up a stream that is refused each time, which costs nothing", async () => {
  const server = await listenForHttp2(({ stream }) => stream.close(NGHTTP2_REFUSED_STREAM));
  const error = await connect(server.origin).fail("{}");
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ isRetryable: true, maybeBilled: false });
  expect(error.message).toContain("refused the request");
  expect(server.bodies).toHaveLength(6);
});

test("loses and doubles nothing when each session ends after 20 streams", async () => {
  const server = await listenForHttp2((call) => {
    if (call.ofSession === 19) call.session.goaway(NGHTTP2_NO_ERROR);
    echo(call);
  });
  await expectAllEchoed(server.origin, bodies(200));
  expect(server.bodies.toSorted()).toEqual(bodies(200).toSorted());
});

test.each([
  ["no error", NGHTTP2_NO_ERROR],
  ["an error", NGHTTP2_INTERNAL_ERROR],
])("a call above the last stream of a GOAWAY with %s moves to another session", async (_, code) => {
  const server = await listenForHttp2((call) =>
    call.index === 1 ? call.session.goaway(code, 1) : echo(call),
  );
  const { post } = connect(server.origin);
  expect(await post("[1]")).toMatchObject({ text: "[1]" });
  expect(await post("[2]")).toMatchObject({ text: "[2]" });
  expect(server.bodies).toEqual(["[1]", "[2]", "[2]"]);
  expect(server.sessions).toHaveLength(2);
});

test("a call whose answer has begun is not sent again, and may be billed", async () => {
  const server = await listenForHttp2((call) => {
    if (call.index === 0) return echo(call);
    call.stream.respond({ ":status": 200 });
    call.stream.write("[", () => call.session.goaway(NGHTTP2_NO_ERROR, 1));
  });
  const { post, fail } = connect(server.origin);
  await post("[1]");
  expect(await fail("[2]")).toMatchObject({ isRetryable: true, maybeBilled: true });
  expect(server.bodies).toEqual(["[1]", "[2]"]);
});

const ends: [string, (call: Call) => void][] = [
  ["a reset before the answer", ({ stream }) => stream.close(NGHTTP2_INTERNAL_ERROR)],
  ["a reset by the server's cancel", ({ stream }) => stream.close(NGHTTP2_CANCEL)],
  ["a session that is destroyed", ({ session }) => session.destroy()],
  ["a GOAWAY with an error", ({ session }) => session.destroy(undefined, NGHTTP2_INTERNAL_ERROR)],
  [
    "half an answer",
    ({ stream, session }) => {
      stream.respond({ ":status": 200, "content-length": 99 });
      stream.write("{", () => session.destroy());
    },
  ],
  [
    "an answer shorter than its length",
    ({ stream }) => {
      stream.respond({ ":status": 200, "content-length": 99 });
      stream.end("{}");
    },
  ],
  [
    "a flood of headers",
    ({ stream }) => {
      const flood = Array.from({ length: 500 }, (_, index) => [`x-${index}`, "y"]);
      stream.respond({ ":status": 200, ...Object.fromEntries(flood) });
    },
  ],
];

test.each(ends)("calls %s a lost connection that may be billed", async (_, end) => {
  const server = await listenForHttp2(end);
  const error = await connect(server.origin).fail("{}");
  expect(error).toMatchObject({ name: "ConnectionError", isRetryable: true, maybeBilled: true });
  expect(error.message).toContain("may have been billed");
});

test("keeps the session when a call is aborted", async () => {
  const codes: number[] = [];
  const server = await listenForHttp2((call) => {
    call.stream.once("close", () => codes.push(call.stream.rstCode));
    if (call.index > 0) echo(call);
  });
  const { post } = connect(server.origin);
  const controller = new AbortController();
  const aborted = post("{}", controller.signal);
  const other = post("{}");
  expect(await other).toMatchObject({ text: "{}" });
  controller.abort("enough");
  await expect(aborted).rejects.toBe("enough");
  expect(await post("{}")).toMatchObject({ text: "{}" });
  expect(server.sessions).toHaveLength(1);
  expect(codes).toContain(NGHTTP2_CANCEL);
});

test("moves on to a new session after each 500 aborts, and loses no other call", async () => {
  const server = await listenForHttp2((call) => {
    if (call.body !== "hang") setImmediate(() => echo(call));
  });
  const { post } = connect(server.origin);
  for (let round = 0; round < 60; round += 1) {
    const controller = new AbortController();
    const hanging = Array.from({ length: 48 }, () => post("hang", controller.signal));
    const others = bodies(8).map((body) => post(body));
    expect((await Promise.all(others)).map(({ text }) => text)).toEqual(bodies(8));
    controller.abort("enough");
    const outcomes = await Promise.allSettled(hanging);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  }
  expect(server.sessions).toHaveLength(6);
});

test.each([
  ["resets the stream", (stream: ServerHttp2Stream) => stream.close()],
  ["leaves the stream open", () => undefined],
])("reads an answer of a server that has not read the whole request, and %s", async (_, end) => {
  const server = createSecureServer(trustedCertificate());
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.once("data", () => {
      stream.pause();
      stream.respond({ ":status": 413 });
      stream.end("{}", () => end(stream));
    });
  });
  await start(server);
  const { post } = connect(originOf(server));
  expect(await post("x".repeat(400_000))).toMatchObject({ status: 413, text: "{}" });
});

test("reads early hints, trailers and large answers", async () => {
  const large = JSON.stringify("x".repeat(3_000_000));
  const server = await listenForHttp2(({ stream }) => {
    stream.additionalHeaders({ ":status": 103, link: "</style.css>" });
    stream.respond({ ":status": 200, "x-a": "b" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-end": "1" }));
    stream.end(large);
  });
  const { status, headers, text } = await connect(server.origin).post("y".repeat(1_000_000));
  expect({ status, text, a: headers["x-a"], link: headers["link"] }).toEqual({
    status: 200,
    text: large,
    a: "b",
    link: undefined,
  });
  expect(Object.getOwnPropertySymbols(headers)).toEqual([]);
});

test("serves an origin that changes its protocol", async () => {
  const over2 = await listenForHttp2(echo);
  const port = Number(new URL(over2.origin).port);
  const { post } = connect(over2.origin);
  expect(await post("{}")).toMatchObject({ text: "{}" });
  await over2.close();
  const over1 = createHttp1Server(trustedCertificate(), (_, response) => {
    response.setHeader("Connection", "close").end("[]");
  });
  await start(over1, port);
  expect(await post("{}")).toMatchObject({ text: "[]" });
  over1.close();
  await listenForHttp2(echo, {}, port);
  const changed = { name: "ConnectionError", isRetryable: true, maybeBilled: false };
  await expect(post("{}")).rejects.toMatchObject(changed);
  expect(await post("{}")).toMatchObject({ text: "{}" });
});

test("speaks HTTP/1.1 if EVALUATOR_HTTP2 is 0, and refuses other values", async () => {
  const server = createSecureServer({ ...trustedCertificate(), allowHTTP1: true });
  server.on("request", ({ httpVersion }, response) => response.end(JSON.stringify(httpVersion)));
  await start(server);
  const origin = originOf(server);
  expect(await connect(origin).post("{}")).toMatchObject({ text: '"2.0"' });
  const off = { EVALUATOR_HTTP2: "0" };
  expect(await connect(origin, off).post("{}")).toMatchObject({ text: '"1.1"' });
  const wrong = { EVALUATOR_HTTP2: "yes" };
  expect(() => createHttpClient({ env: wrong })).toThrow(
    "EVALUATOR_HTTP2 is neither 0 (HTTP/1.1 only) nor 1.",
  );
});

test("an idle session does not keep a program alive", async () => {
  const server = await listenForHttp2(echo);
  const program = fileURLToPath(new URL("../testing/one-call-program.ts", import.meta.url));
  const words = [program, server.origin, trustedCertificate().cert];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (text) => (printed += String(text)));
  const [exitCode] = (await once(child, "close")) as [number | null];
  expect([printed, exitCode]).toEqual(["{}\n", 0]);
});
