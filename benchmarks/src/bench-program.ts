import { availableParallelism, cpus } from "node:os";
import process from "node:process";
import { exitCodes, type Program, type ProgramOptions } from "evaluator-kit";
import { type BenchArguments, readBenchArguments, usage } from "./bench-arguments.ts";
import { buildClient, type BuiltClient, ownClient } from "./client-build.ts";
import { printTable } from "./figures.ts";
import { longScale, shortScale } from "./section.ts";
import { sections } from "./sections.ts";
import { startServer } from "./server/start-server.ts";

/** Name, help and errors of the program. */
export const benchProgramOptions: ProgramOptions = {
  name: "The benchmark",
  help: { command: "npm run bench --", usage },
  isForPerson: () => true,
};

/** Runs the chosen sections and returns the exit code. */
export const benchProgram: Program = async (words, { cwd, stdout, stderr, signal }) => {
  const given = readBenchArguments(words, cwd);
  const write = (text: string) => void stdout.write(text);
  const tell = (line: string) => void stderr.write(`… ${line}\n`);
  // The terminal interrupts the other processes too: who waits for them fails, and cleans up.
  await runBench(given, write, tell).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
  return exitCodes.done;
};

/**
 * Runs sections one after the other and prints the tables of each.
 *
 * @throws Error if anything answers in an unexpected way: figures of errors are worth nothing.
 */
async function runBench(
  { long, sections: names, targets, against, profile }: BenchArguments,
  write: (text: string) => void,
  tell: (line: string) => void,
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
