import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "evaluator-kit";
import { z } from "zod";
import { openCatalog, openTransport } from "../../service.ts";
import { createMachines } from "../machines-on-pglite.ts";
import { type CommandOutcome, createStart, type StartContext } from "../start-in-process.ts";
import { startProgram } from "../start-program.ts";
import { startPage } from "../start-page.ts";
import { runTickets } from "./ticket-program.ts";
import { ticketSource } from "./ticket-source.ts";

export { folderWith, stoppedClock } from "../start-in-process.ts";

/** Runs a command of the program of tickets in this process. */
export const startTickets = createStart({
  name: "Tickets",
  source: ticketSource,
  run: runTickets,
});

/** Starts a command that serves a page, see `startPage`. */
export const startTicketPage = (words: readonly string[], given: StartContext) =>
  startPage(startTickets, words, given);

const main = fileURLToPath(new URL("main.ts", import.meta.url));

/** Starts the program of tickets in its own process. */
export const startTicketProgram = (
  words: readonly string[],
  options: Parameters<typeof startProgram>[2],
) => startProgram(main, words, options);

interface GatewayRun {
  readonly gatewayBaseUrl: string;
  readonly concurrency: number;
  /** See {@link startProgram}. */
  readonly mostKilobytes?: number;
}

/** Runs on a folder's `inbox.json` in its own process, and asks a gateway. */
export function startGatewayProgram(
  cwd: string,
  { gatewayBaseUrl, concurrency, mostKilobytes }: GatewayRun,
) {
  const env = { AI_GATEWAY_API_KEY: "any", EVALUATOR_BASE_URL: gatewayBaseUrl };
  const words = ["inbox.json", "--concurrency", String(concurrency)];
  return startTicketProgram(words, { cwd, env, mostKilobytes });
}

/** Starts commands of several machines over one PostgreSQL in memory, which each test of a file finds empty. */
export const ticketMachines = () => createMachines(startTickets, ticketSource.journalVariable);

/** Runs on a folder's `inbox.json` in this process, one call after the other, and asks a gateway. */
export async function startOnGateway(cwd: string, gatewayBaseUrl: string): Promise<CommandOutcome> {
  const env = { AI_GATEWAY_API_KEY: "any", EVALUATOR_BASE_URL: gatewayBaseUrl };
  const services = { openTransport, openCatalog, clock: systemClock };
  return await startTickets(["inbox.json", "--concurrency", "1"], { cwd, env, ...services });
}

/** Reads the results beside `inbox.json`. */
export async function readResults(folder: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(folder, "inbox.tickets.json"), "utf8");
  return z.array(z.looseObject({})).parse(JSON.parse(text));
}
