import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { startTriageProgram } from "./testing/start-triage.ts";

test.skipIf(process.platform !== "linux")(
  "who lists processes sees no URL, and neither does who reads what is said",
  async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const url = `postgres://ada:secret@127.0.0.1:${port}/triage`;
    const program = startTriageProgram(["status", "--journal", url], { cwd: "/", env: {} });
    onTestFinished(() => void program.child.kill("SIGKILL"));
    await once(server, "connection");
    const words = await readFile(`/proc/${program.child.pid}/cmdline`, "utf8");
    expect(words).toMatch(/^evaluator-triage/);
    expect(words).not.toContain("secret");
    for (const socket of sockets) socket.destroy();
    server.close();
    const { exitCode, stderr } = await program.ended;
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("cannot be reached")]);
    expect(stderr).not.toContain("secret");
  },
);
