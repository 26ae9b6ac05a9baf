import { availableParallelism, cpus } from "node:os";
import process from "node:process";
import type { BenchArguments } from "./bench-arguments.ts";
import { buildClient, type BuiltClient, ownClient } from "./client-build.ts";
import { printTable } from "./figures.ts";
import { longScale, shortScale } from "./section.ts";
import { sections } from "./sections.ts";
import { startServer } from "./server/start-server.ts";

/** Where a run prints. */
export interface BenchOutput {
  /** Takes the tables. */
  readonly write: (text: string) => void;
  /** Takes what is going on. */
  readonly tell: (line: string) => void;
}

/**
 * Runs the parts one after the other and prints each as it is done.
 *
 * @throws Error when anything answers otherwise than expected: figures of errors are worth nothing.
 */
export async function runBench(
  { long, sections: names, targets, against, profile }: BenchArguments,
  { write, tell }: BenchOutput,
): Promise<void> {
  const cpu = cpus()[0]?.model.trim() ?? "unknown";
  const today = new Date().toISOString();
  write(`${cpu}, ${availableParallelism()} cores, Node ${process.version}, ${today}\n\n`);
  tell("building the client");
  await using client = await buildClient(ownClient);
  await using other: BuiltClient | null = against === null ? null : await buildClient(against);
  await using server = await startServer();
  const scale = long ? longScale : shortScale;
  const clients = { clientFolder: client.folder, otherClientFolder: other?.folder ?? null };
  const context = { scale, server, ...clients, targets, profileFolder: profile, tell };
  for (const name of names) {
    for (const table of await sections[name](context)) write(printTable(table));
  }
}
