import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import process from "node:process";
import type { BenchArguments } from "./bench-arguments.ts";
import { buildClient, type BuiltClient } from "./client-build.ts";
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
  { long, sections: names, targets, out, client: source, against, profile }: BenchArguments,
  { write, tell }: BenchOutput,
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

/** Where figures come from. */
interface MachineFacts {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly date: string;
}

/** Returns what a reader of the figures must know about the machine. */
function machineFacts(now: Date): MachineFacts {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    date: now.toISOString(),
  };
}
