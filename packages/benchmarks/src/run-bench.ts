import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { BenchArguments } from "./arguments/bench-arguments.ts";
import { buildClient, type BuiltClient } from "./client-build/build-client.ts";
import { machineFacts } from "./machine-facts.ts";
import { printTable } from "./report/print-table.ts";
import { longScale, shortScale } from "./scale.ts";
import { sections } from "./sections.ts";
import { startServer } from "./server/start-server.ts";

/** Where a run prints. */
export interface BenchSurroundings {
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
  { long, sections: names, targets, out, client: source, against, profile }: BenchArguments,
  { write, tell }: BenchSurroundings,
): Promise<void> {
  const machine = machineFacts(new Date());
  write(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${machine.date}\n\n`);
  tell("building the client");
  await using client = await buildClient(source);
  await using other: BuiltClient | null = against === null ? null : await buildClient(against);
  await using server = await startServer();
  const scale = long ? longScale : shortScale;
  const clients = { clientFolder: client.folder, otherClientFolder: other?.folder ?? null };
  const context = { scale, server, ...clients, targets, profileFolder: profile, tell };
  const data: Record<string, unknown> = {};
  for (const name of names) {
    const result = await sections[name](context);
    data[name] = result.data;
    for (const table of result.tables) write(printTable(table));
    // After each part, so that a failure in the next costs no figures.
    await writeFigures(out, { machine, long, ...data });
  }
  write(`All figures are in ${out}.\n`);
}

async function writeFigures(path: string, figures: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(figures, null, 2)}\n`);
}
