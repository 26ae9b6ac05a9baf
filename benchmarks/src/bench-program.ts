import { availableParallelism, cpus } from "node:os";
import { resolve } from "node:path";
import process from "node:process";
import {
  type CliContext,
  createCommand,
  Option,
  packageVersion,
  type Program,
  type ProgramOptions,
  runCommand,
  wordList,
} from "evaluator-kit";
import { targetNames } from "./calls/targets.ts";
import { buildClient, type BuiltClient, ownClient } from "./client-build.ts";
import { printTable } from "./figures.ts";
import { longScale, sectionNames, sections, shortScale } from "./section.ts";
import { startServer } from "./process/start-servers.ts";

/** Name and errors of the program. */
export const benchProgramOptions: ProgramOptions = {
  name: "The benchmark",
  isForPerson: () => true,
};

/** Declares the command. */
export function benchCommand(context: CliContext) {
  const path = (folder: string) => resolve(context.cwd, folder);
  return createCommand("npm run bench --", { context, version: packageVersion(import.meta.url) })
    .option("--long", "measure longer, for figures to quote")
    .addOption(
      new Option("--only <a,b>", `only these parts: ${sectionNames.join(", ")}`)
        .argParser(wordList(sectionNames))
        .default(sectionNames, "all"),
    )
    .addOption(
      new Option("--targets <a,b>", `only these targets of calls: ${targetNames.join(", ")}`)
        .argParser(wordList(targetNames))
        .default(targetNames, "all"),
    )
    .option("--against <folder>", "measure the SDK of another checkout too, in calls", path)
    .option("--profile <folder>", "write a CPU profile of each asking process there", path);
}

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
  {
    long,
    only: names,
    targets,
    against,
    profile,
  }: ReturnType<ReturnType<typeof benchCommand>["opts"]>,
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
