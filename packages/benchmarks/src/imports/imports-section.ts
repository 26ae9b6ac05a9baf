import { startChild } from "../process/start-child.ts";
import { printNumber, printSummary } from "../report/print-number.ts";
import type { ReportTable, SectionResult } from "../report/section.ts";
import type { SectionContext } from "../section.ts";
import { rotate } from "../statistics/rotate.ts";
import { type Summary, summarise } from "../statistics/summary.ts";
import { type BundledSize, bundledSize } from "./bundled-size.ts";
import type { ImportService } from "./import-process/main.ts";
import { type ImportedEntry, importedEntries } from "./imported-entries.ts";

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
    const node = await bundledSize(entry, "node");
    const browser = entry.isForBrowsers ? await bundledSize(entry, "browser") : null;
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
      const file = new URL("import-process/main.ts", import.meta.url);
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
