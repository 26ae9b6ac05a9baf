import { availableParallelism, cpus } from "node:os";
import process from "node:process";
import { type Program, type ProgramOptions, runCommand } from "evaluator-kit";
import { benchCommand, type BenchOptions } from "./bench-arguments.ts";
import { buildClient, type BuiltClient, ownClient } from "./client-build.ts";
import { printTable } from "./figures.ts";
import { longScale, shortScale } from "./section.ts";
import { sections } from "./sections.ts";
import { startServer } from "./server/start-server.ts";

/** Name and errors of the program. */
export const benchProgramOptions: ProgramOptions = {
  name: "The benchmark",
  isForPerson: () => true,
};

/** Runs the chosen sections and returns the exit code. */
export const benchProgram: Program = async (words, context) => {
  const { stdout, stderr, signal } = context;
  const write = (text: string) => void stdout.write(text);
  const tell = (line: string) => void stderr.write(`… ${line}\n`);
  const command = benchCommand(context).action(async (options) => {
    // The terminal interrupts the other processes too: who waits for them fails, and cleans up.
    await runBench(options, write, tell).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
  });
  return await runCommand(command, words, context);
};

/**
 * Runs sections one after the other and prints the tables of each.
 *
 * @throws Error if anything answers in an unexpected way: figures of errors are worth nothing.
 */
async function runBench(
  { long, only: names, targets, against, profile }: BenchOptions,
  write: (text: string) => void,
  tell: (line: string) => void,
): Promise<void> {
  const cpu = cpus()[0]?.model.trim() ?? "unknown";
  const today = new Date().toISOString();
  write(`${cpu}, ${availableParallelism()} cores, Node ${process.version}, ${today}\n\n`);
  tell("building the client");
  await using client = await buildClient(ownClient);
  await using other: BuiltClient | null = against === undefined ? null : await buildClient(against);
  await using server = await startServer();
  const scale = long === true ? longScale : shortScale;
  const clients = { clientFolder: client.folder, otherClientFolder: other?.folder ?? null };
  const context = { scale, server, ...clients, targets, profileFolder: profile ?? null, tell };
  for (const name of names) {
    for (const table of await sections[name](context)) write(printTable(table));
  }
}
