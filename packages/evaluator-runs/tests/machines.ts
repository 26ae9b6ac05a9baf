import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { createEmulator } from "evaluator-emulator";
import { onTestFinished } from "vitest";
import { makeDatabase } from "../src/testing/make-database.ts";
import { AnsweredCalls, type StartedProgram } from "../src/testing/start-program.ts";
import { startTicketProgram } from "../src/testing/tickets/start-tickets.ts";
import { sampleTicket } from "../src/testing/tickets/ticket-source.ts";

/** Requests in flight at once, of each process. */
export const CONCURRENCY = 4;

/** Processes that work on one run in a database of its own, and the service they ask. */
export interface Machines {
  readonly answered: AnsweredCalls;
  /** The number of tickets. */
  readonly tickets: number;
  /** What one undisturbed machine has written. */
  readonly expected: string;
  /** Starts a process: the one that has the file, or one that only works. */
  start(kind: "run" | "work", url?: string): StartedProgram;
  /** Reads what the processes together have written. */
  read(): Promise<string>;
  /** The database. */
  readonly url: string;
}

/** Makes a database and an input, and lets one undisturbed machine write what is expected. */
export async function machines(serverUrl: string, tickets: number): Promise<Machines> {
  const url = await makeDatabase(serverUrl);
  const emulator = createEmulator({ faults: [{ kind: "latency", latencyMs: 15 }] });
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  const service = { AI_GATEWAY_API_KEY: "any", EVALUATOR_BASE_URL: gatewayBaseUrl };
  const folder = await temporaryFolder();
  const [alone, together] = [join(folder, "alone"), join(folder, "together")];
  for (const cwd of [alone, together]) await writeInbox(cwd, tickets);
  const asked = ["inbox.json", "--concurrency"];
  const { stderr } = await startTicketProgram([...asked, "32"], { cwd: alone, env: service }).ended;
  const expected = await readResults(alone).catch(() => {
    throw new Error(`The undisturbed run wrote nothing: ${stderr}`);
  });
  const answered = new AnsweredCalls(emulator);
  await answered.count();
  answered.forget();
  return {
    answered,
    tickets,
    expected,
    url,
    read: () => readResults(together),
    start(kind, journal = url) {
      const words = kind === "run" ? ["run", "inbox.json"] : ["work", "--wait"];
      const env = { ...service, TICKETS_JOURNAL: journal };
      const program = startTicketProgram([...words, "--concurrency", String(CONCURRENCY)], {
        cwd: together,
        env,
      });
      onTestFinished(() => void program.child.kill("SIGKILL"));
      return program;
    },
  };
}

async function readResults(folder: string): Promise<string> {
  return await readFile(join(folder, "inbox.tickets.json"), "utf8");
}

async function writeInbox(folder: string, count: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const tickets = Array.from({ length: count }, (_, index) =>
    sampleTicket({
      id: `m-${index}`,
      subject: `Statement ${index % 50}`,
      text: "Pay now. ".repeat(index % 7),
    }),
  );
  await writeFile(join(folder, "inbox.json"), JSON.stringify(tickets));
}

/** A proxy before the server that can be cut: then nothing passes, and no end is told of. */
export interface CuttableProxy {
  readonly url: string;
  cut(): void;
  heal(): void;
}

/** Opens a proxy before a server. */
export async function openProxy(url: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => (sockets.delete(from), to.destroy()));
      from.on("data", (bytes) => to.write(bytes));
      if (isCut) from.pause();
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const own = new URL(url);
  own.port = String((server.address() as { port: number }).port);
  return {
    url: own.href,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    heal() {
      isCut = false;
      // Whoever was cut off for so long is told by a reset, as by a firewall.
      for (const socket of sockets) socket.destroy();
    },
  };
}
