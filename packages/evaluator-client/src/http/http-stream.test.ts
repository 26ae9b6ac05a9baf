import { once } from "node:events";
import type { Socket } from "node:net";
import { createBrotliCompress, createGzip, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  httpResponse,
  type Listen,
  listenOnSocket,
  type Respond,
  servers,
} from "../testing/socket-server.ts";
import { fetchHttpClient, type HttpClient } from "./http-client.ts";
import type { ChunkSink } from "./http-response.ts";
import { createHttpClient } from "./undici-http-client.ts";

const clients: [string, HttpClient][] = [
  ["own connections", createHttpClient({ env: {} })],
  ["fetch", fetchHttpClient((url, init) => fetch(url, init))],
];
const ways = clients.flatMap(([client, http]) =>
  servers.map(([server, listen]): [string, HttpClient, Listen] => [
    `${client} ${server}`,
    http,
    listen,
  ]),
);

const { signal } = new AbortController();

async function open(http: HttpClient, listen: Listen, respond: Respond, ended = signal) {
  const server = await listen(respond);
  const endpoint = { method: "POST", url: `${server.origin}/path`, headers: {} } as const;
  const response = await http.stream(endpoint, "{}", { signal: ended });
  return { response, server };
}

/** Reads a text, piece by piece. */
async function textOf({ read }: { read: (sink: ChunkSink) => Promise<void> }) {
  let text = "";
  await read((chunk) => void (text += Buffer.from(chunk).toString()));
  return text;
}

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ";

test.each(ways)(
  "%s: a chunk is read when it comes, and the next once it is taken",
  async (...way) => {
    const [, http, listen] = way;
    const first = Promise.withResolvers<void>();
    const { response, server } = await open(http, listen, (socket) => {
      socket.write(`${head}2\r\n\r\na`);
      void first.promise.then(() => socket.write("b"));
    });
    expect(response).toMatchObject({
      status: 200,
      headers: { "content-type": "text/event-stream" },
    });
    const taken: string[] = [];
    let isTaking = false;
    await response.read(async (chunk) => {
      expect(isTaking).toBe(false);
      isTaking = true;
      taken.push(Buffer.from(chunk).toString());
      first.resolve();
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      isTaking = false;
    });
    expect(taken.join("")).toBe("ab");
    await server[Symbol.asyncDispose]();
  },
);

test.each(ways)("%s: a sender waits while nothing is taken", async (_, http, listen) => {
  const large = Buffer.alloc(64 * 1024 * 1024, "a");
  const sending = Promise.withResolvers<Socket>();
  const { response, server } = await open(http, listen, (socket) => {
    socket.write(`${head}${large.length}\r\n\r\n`);
    socket.write(large);
    sending.resolve(socket);
  });
  const [taken, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let bytes = 0;
  const reading = response.read((chunk) => {
    bytes += chunk.length;
    taken.resolve();
    return free.promise;
  });
  await taken.promise;
  const socket = await sending.promise;
  let waiting = Infinity;
  while (socket.writableLength < waiting) {
    waiting = socket.writableLength;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(waiting).toBeGreaterThan(large.length / 2);
  free.resolve();
  await reading;
  expect(bytes).toBe(large.length);
  await server[Symbol.asyncDispose]();
});

test.each(ways)("%s: codings are undone as their bytes come", async (_, http, listen) => {
  const rest = Promise.withResolvers<void>();
  const { response, server } = await open(http, listen, async (socket) => {
    const [gzip, brotli] = [createGzip(), createBrotliCompress()];
    socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip, br\r\n\r\n");
    brotli.on("data", (bytes: Buffer) => socket.write(bytes));
    gzip.on("data", (bytes: Buffer) => (brotli.write(bytes), brotli.flush()));
    gzip.write("first");
    gzip.flush();
    await rest.promise;
    gzip.end("last");
    await once(gzip, "end");
    brotli.end();
    await once(brotli, "end");
    socket.end();
  });
  let text = "";
  await response.read((chunk) => {
    text += Buffer.from(chunk).toString();
    if (text === "first") rest.resolve();
  });
  expect(text).toBe("firstlast");
  await server[Symbol.asyncDispose]();
});

test("a coding that is broken or not known is an error", async () => {
  const http = createHttpClient({ env: {} });
  const packed = gzipSync("x".repeat(1000)).subarray(0, 20);
  for (const coding of ["gzip", "gzip, gzip", "rot13", "rot13, gzip", "gzip,".repeat(6)]) {
    const body = httpResponse(200, packed, { "Content-Encoding": coding });
    const { response, server } = await open(http, listenOnSocket, (socket) => socket.write(body));
    await expect(textOf(response)).rejects.toThrow(TypeError);
    await server[Symbol.asyncDispose]();
  }
});

test.each(ways)("%s: what came before the end of a connection is read", async (_, http, listen) => {
  const { response, server } = await open(http, listen, (socket) =>
    socket.write(`${head}9\r\n\r\nhalf`, () => setImmediate(() => socket.resetAndDestroy())),
  );
  let text = "";
  const reading = response.read((chunk) => void (text += Buffer.from(chunk).toString()));
  await expect(reading).rejects.toThrow(TypeError);
  expect(text).toBe("half");
  await server[Symbol.asyncDispose]();
});

test.each(ways)("%s: a refused connection is a TypeError with its cause", async (...way) => {
  const [, http, listen] = way;
  const server = await listen(() => undefined);
  await server[Symbol.asyncDispose]();
  const endpoint = { method: "POST", url: server.origin, headers: {} } as const;
  const error: unknown = await http
    .stream(endpoint, "{}", { signal })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } });
});

test.each(ways)("%s: an abort ends the response with its reason", async (_, http, listen) => {
  const controller = new AbortController();
  const reason = { why: "enough" };
  const closed = Promise.withResolvers<void>();
  const respond: Respond = (socket) => {
    socket.once("close", () => closed.resolve());
    socket.write(`${head}9\r\n\r\nhalf`);
  };
  const { response, server } = await open(http, listen, respond, controller.signal);
  await expect(response.read(() => controller.abort(reason))).rejects.toBe(reason);
  await closed.promise;
  await server[Symbol.asyncDispose]();
});

test.each(ways)("%s: an error of the reader ends the request", async (_, http, listen) => {
  const closed = Promise.withResolvers<void>();
  const { response, server } = await open(http, listen, (socket) => {
    socket.once("close", () => closed.resolve());
    socket.write(`${head}9\r\n\r\nhalf`);
  });
  const error = new Error("No more.");
  await expect(response.read(() => Promise.reject(error))).rejects.toBe(error);
  await closed.promise;
  await server[Symbol.asyncDispose]();
});
