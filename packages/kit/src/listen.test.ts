import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { CliError } from "./errors.ts";
import { listen } from "./listen.ts";

function newServer() {
  const server = createServer();
  onTestFinished(() => void server.close());
  return server;
}

test("port 0 takes a free one", async () => {
  const { port, origin } = await listen(newServer(), { port: 0 });
  expect(port).toBeGreaterThan(0);
  expect(origin).toBe(`http://127.0.0.1:${port}`);
});

test("a port that is taken is named, and how to choose another", async () => {
  const { port } = await listen(newServer(), { port: 0 });
  const again = listen(newServer(), { port, portSetting: "PORT=" });
  await expect(again).rejects.toThrow(
    new CliError(
      `Port ${port} on 127.0.0.1 is taken; stop what uses it, or choose a free one, such as PORT=${port + 1}.`,
    ),
  );
});

test("with a line about it, the next free port takes the place of a taken one", async () => {
  const { port: taken } = await listen(newServer(), { port: 0 });
  const lines: string[] = [];
  const warn = (line: string) => void lines.push(line);
  const { port, origin } = await listen(newServer(), { port: taken, warn });
  expect(port).toBeGreaterThan(taken);
  expect(origin).toBe(`http://127.0.0.1:${port}`);
  await listen(newServer(), { port: 0, warn });
  expect(lines).toEqual([`Port ${taken} on 127.0.0.1 is taken; this is port ${port}.\n`]);
});

test("a host that is not this machine's is named", async () => {
  const elsewhere = listen(newServer(), { host: "192.0.2.1", port: 0 });
  await expect(elsewhere).rejects.toThrow(
    "Port 0 on 192.0.2.1 is not on this machine; choose --host 127.0.0.1.",
  );
});

test.each([
  ["0.0.0.0", "http://127.0.0.1:"],
  ["::", "http://[::1]:"],
])("%s is told as an address that can be called", async (host, begin) => {
  const { port, origin } = await listen(newServer(), { host, port: 0 });
  expect(origin).toBe(`${begin}${port}`);
});
