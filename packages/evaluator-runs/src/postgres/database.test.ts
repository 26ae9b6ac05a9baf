import { createServer, type Server } from "node:net";
import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "./database.ts";
import { postgresLimits } from "./postgres-limits.ts";

async function listen(server: Server): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

async function failureOf(connection: Parameters<typeof postgresLimits>[0]): Promise<unknown> {
  const error = await postgresLimits(connection).catch((error: unknown) => error);
  const printed = inspect(error, { depth: 20, showHidden: true });
  for (const secret of ["w0rd", "someone", "127.0.0.1"]) expect(printed).not.toContain(secret);
  return error;
}

test("says that nobody listens, without the URL", async () => {
  const server = createServer();
  const port = await listen(server);
  await new Promise((closed) => server.close(closed));
  const error = await failureOf(`postgres://someone:passw0rd@127.0.0.1:${port}/db`);
  expect(error).toMatchObject({ failure: "unreachable", code: "ECONNREFUSED", isRetryable: true });
});

test("listens again after a second of the given clock", async () => {
  const port = await listen(createServer((socket) => socket.destroy()));
  const tries: { readonly delayMs: number; readonly connect: () => void }[] = [];
  const schedule = (delayMs: number, connect: () => void) => {
    tries.push({ delayMs, connect });
    return () => {};
  };
  const database = openDatabase(`postgres://someone@127.0.0.1:${port}/db`, {}, { schedule });
  await database.listen("pauses", () => {});
  tries[0]?.connect();
  await expect.poll(() => tries.map(({ delayMs }) => delayMs)).toEqual([1000, 1000]);
  await database.close();
});

test("says that a server hung up, without the URL", async () => {
  const port = await listen(createServer((socket) => socket.destroy()));
  const error = await failureOf(`postgres://someone:passw0rd@127.0.0.1:${port}/db`);
  expect(error).toMatchObject({ failure: "unreachable" });
});

test("gives up on a server that accepts and says nothing", async () => {
  const port = await listen(createServer((socket) => onTestFinished(() => void socket.destroy())));
  const connectionString = `postgres://someone:passw0rd@127.0.0.1:${port}/db`;
  const error = await failureOf({ connectionString, connectionTimeoutMillis: 50 });
  expect(error).toMatchObject({ failure: "unreachable" });
});

test.each([
  ["has a character that is not encoded", "postgres://someone:pass/w0rd@127.0.0.1/db"],
  ["is no URL", "someone:passw0rd@127.0.0.1"],
  ["is empty", ""],
  ["has an encoding that is none", "postgres://someone:%E0passw0rd@127.0.0.1/db"],
  ["names a file that is not there", "postgres://someone:passw0rd@127.0.0.1/db?sslcert=/none"],
])("says that a URL cannot be read when it %s", async (_, url) => {
  const error = await failureOf(url);
  expect(error).toMatchObject({ failure: "connection-options", code: null });
});

test("rejects a server that is too old, and says which it is", async () => {
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.from(`${type}0000`);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const [int16, int32] = [
    (value: number) => Buffer.from([value >> 8, value & 255]),
    Buffer.alloc(4),
  ];
  const ready = message("Z", Buffer.from("I"));
  const field = Buffer.concat([
    Buffer.from("version\0"),
    int32,
    int16(0),
    int32,
    int16(0),
    int32,
    int16(0),
  ]);
  const old = "120022";
  const cell = Buffer.concat([int16(1), int16(0), int16(old.length), Buffer.from(old)]);
  // What PostgreSQL 12 says to who connects, and to any statement.
  const port = await listen(
    createServer((socket) => {
      socket.once("data", () => {
        socket.write(Buffer.concat([message("R", int32), ready]));
        socket.on("data", (data) => {
          if (data[0] !== "Q".charCodeAt(0)) return;
          const row = message("T", Buffer.concat([int16(1), field]));
          const done = message("C", Buffer.from("SELECT 1\0"));
          socket.write(Buffer.concat([row, message("D", cell), done, ready]));
        });
      });
    }),
  );
  const error = await failureOf(`postgres://someone:passw0rd@127.0.0.1:${port}/db`);
  expect(error).toMatchObject({ failure: "too-old" });
  expect(String(error)).toContain("PostgreSQL 12 is too old; use 13 or newer");
});
