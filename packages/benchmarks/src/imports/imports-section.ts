import { fileURLToPath } from "node:url";
import { entryUrl } from "../client-build.ts";
import { printNumber, printSummary, rotate, type Summary, summarise } from "../figures.ts";
import { startChild } from "evaluator-cli-kit/child";
import type { ReportTable, SectionResult, SectionContext } from "../section.ts";
import { type BundledSize, bundledSize } from "./bundled-size.ts";
import type { ImportService } from "./import-process.ts";

/** What one entry costs a program before it does anything. */
interface EntryFigures {
  readonly name: string;
  readonly importMs: Summary;
  readonly node: BundledSize;
  readonly browser: BundledSize | null;
}

/** Measures how long each entry takes to import, and how large it is in a bundle. */
export async function importsSection(context: SectionContext): Promise<SectionResult> {
  context.tell("imports");
  const entries = importedEntries(context.clientFolder);
  const times = await timeImports(entries, context.scale.rounds);
  const figures: EntryFigures[] = [];
  for (const entry of entries) {
    const importMs = summarise(times.get(entry.name) ?? []);
    const node = await bundledSize(toBundled(entry), "node");
    const browser = entry.isForBrowsers ? await bundledSize(toBundled(entry), "browser") : null;
    figures.push({ name: entry.name, importMs, node, browser });
  }
  return { tables: [toTable(figures)], data: figures };
}

/** Imports each entry in turns, each time in a process that has just begun. */
async function timeImports(
  entries: readonly ImportedEntry[],
  rounds: number,
): Promise<ReadonlyMap<string, number[]>> {
  const times = new Map<string, number[]>(entries.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, url } of rotate(entries, round)) {
      const file = new URL("import-process.ts", import.meta.url);
      const child = startChild<ImportService>(file);
      times.get(name)?.push(await child.ask("importModule", url));
      await child.close();
    }
  }
  return times;
}

function toTable(figures: readonly EntryFigures[]): ReportTable {
  return {
    title: "Import and size",
    columns: ["", "import ms", "Node KB", "Node KB, gzip", "browser KB", "browser KB, gzip"],
    rows: figures.map(({ name, importMs, node, browser }) => [
      name,
      printSummary(importMs),
      ...printSize(node),
      ...printSize(browser),
    ]),
    note: "Sizes are of minified bundles with all dependencies but `ai` and OpenTelemetry's API beside the entries made for them. Of `ai`, only `experimental_decide` and `createGateway` are taken; of `undici`, `request`.",
  };
}

function printSize(size: BundledSize | null): string[] {
  if (size === null) return ["-", "-"];
  return [printNumber(size.minifiedBytes / 1024), printNumber(size.gzippedBytes / 1024)];
}

/** An entry point that a program may import. */
interface ImportedEntry {
  readonly name: string;
  /** Where it is. */
  readonly url: string;
  /** What a program takes from it; everything when not given. */
  readonly names?: readonly string[];
  /** Packages that it leaves to the program which imports it. */
  readonly peers: readonly string[];
  /** Whether it is meant for browsers too. */
  readonly isForBrowsers: boolean;
}

/** The entries of the built client, and what else a program would import in their place. */
function importedEntries(clientFolder: string): readonly ImportedEntry[] {
  const own = (name: string, peers: readonly string[] = []) => ({
    name,
    url: entryUrl(clientFolder, name),
    peers,
    isForBrowsers: true,
  });
  const others = { peers: [], isForBrowsers: true };
  return [
    own("evaluator-client"),
    own("evaluator-client/ai-sdk", ["ai"]),
    own("evaluator-client/opentelemetry", ["@opentelemetry/api"]),
    { ...others, name: "@typesafe-ai/sdk", url: import.meta.resolve("@typesafe-ai/sdk") },
    {
      ...others,
      name: "ai",
      url: import.meta.resolve("ai"),
      names: ["experimental_decide", "createGateway"],
    },
    {
      ...others,
      name: "undici",
      url: import.meta.resolve("undici"),
      names: ["request"],
      isForBrowsers: false,
    },
  ];
}

function toBundled({ url, names, peers }: ImportedEntry) {
  return { path: fileURLToPath(url), names, peers };
}
