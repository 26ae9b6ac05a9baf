import { availableParallelism, cpus } from "node:os";
import { resolve } from "node:path";
import process from "node:process";
import {
  type CliContext,
  createCommand,
  Option,
  packageVersion,
  type Program,
  runCommand,
  wordList,
} from "evaluator-kit";
import { type TargetName, targets } from "./targets.ts";
import { buildClient, checkoutOf } from "./client-build.ts";
import { printTable, type ReportTable } from "./figures.ts";
import { startServer } from "./process/start-servers.ts";
import { longScale, type SectionContext, shortScale } from "./section-context.ts";

/** Every part, in the order it is run. With all of them loaded, `--help` starts in five times the work. */
const sections = {
  calls: async (context) => (await import("./calls/calls-section.ts")).callsSection(context),
  doors: async (context) => (await import("./router/doors-section.ts")).doorsSection(context),
  gateways: async (context) =>
    (await import("./gateways/gateways-section.ts")).gatewaysSection(context),
  router: async (context) => (await import("./router/router-section.ts")).routerSection(context),
  serverless: async (context) =>
    (await import("./serverless/serverless-section.ts")).serverlessSection(context),
  stream: async (context) => (await import("./stream/stream-section.ts")).streamSection(context),
  triage: async (context) => (await import("./triage/triage-section.ts")).triageSection(context),
} as const satisfies Record<string, (context: SectionContext) => Promise<readonly ReportTable[]>>;

const sectionNames = Object.keys(sections) as readonly (keyof typeof sections)[];
const targetNames = Object.keys(targets) as readonly TargetName[];

function benchCommand(context: CliContext) {
  const path = (folder: string) => resolve(context.cwd, folder);
  return createCommand("npm run bench --", { context, version: packageVersion(import.meta.url) })
    .option("--long", "measure longer, for figures to quote")
    .addOption(
      new Option("--only <a,b>", `only these parts: ${sectionNames.join(", ")}`)
        .argParser(wordList(sectionNames))
        .default(
          sectionNames.filter((name) => name !== "gateways"),
          "all but gateways",
        ),
    )
    .addOption(
      new Option("--targets <a,b>", `only these targets of calls: ${targetNames.join(", ")}`)
        .argParser(wordList(targetNames))
        .default(targetNames, "all"),
    )
    .option(
      "--against <folder>",
      "measure another checkout too: its SDK in calls, its router in router",
      path,
    );
}

/** Returns the program that runs the chosen sections. */
export function benchProgram(run = runBench): Program {
  return async (words, context) => {
    const command = benchCommand(context).action(async (options) => {
      // The terminal interrupts the other processes too: who waits for them fails, and cleans up.
      await run(options, context).catch((error: unknown) => {
        throw context.signal.aborted ? context.signal.reason : error;
      });
    });
    return await runCommand(command, words, context);
  };
}

/**
 * Runs sections one after the other and prints the tables of each.
 *
 * @throws Error if anything answers in an unexpected way: figures of errors are worth nothing.
 */
async function runBench(
  options: ReturnType<ReturnType<typeof benchCommand>["opts"]>,
  { stdout, stderr }: CliContext,
): Promise<void> {
  const { long, only: names, targets, against } = options;
  const tell = (line: string) => void stderr.write(`… ${line}\n`);
  const cpu = cpus()[0]?.model.trim() ?? "unknown";
  const today = new Date().toISOString();
  stdout.write(`${cpu}, ${availableParallelism()} cores, Node ${process.version}, ${today}\n\n`);
  tell("building the client");
  await using client = await buildClient();
  await using other = against === undefined ? null : await buildClient(against);
  await using server = await startServer();
  const scale = long === true ? longScale : shortScale;
  const clients = { clientFolder: client.folder, otherClientFolder: other?.folder ?? null };
  const otherCheckout = against === undefined ? null : checkoutOf(against);
  const context = { scale, server, ...clients, otherCheckout, targets, tell };
  for (const name of names) {
    for (const table of await sections[name](context)) stdout.write(printTable(table));
  }
}
