import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { compareRounds, printNumber, printSummary, summarise } from "./figures.ts";
import { type ProgramUsage, runProgram } from "./process/program.ts";
import type { SectionContext, SectionResult } from "./section.ts";
import { temporaryFolder } from "./triage/run-triage.ts";

/** Measures `evaluator calibrate` over many labelled answers, beside parsing the same lines and no more. */
export async function calibrateSection({ scale, tell }: SectionContext): Promise<SectionResult> {
  const { calibratedRows: rows, calibrateRounds } = scale;
  await using folder = await temporaryFolder();
  const labels = join(folder.path, "labels.ndjson");
  const answers = join(folder.path, "answers.ndjson");
  await pipeline(Readable.from(linesOf(rows, labelOf)), createWriteStream(labels));
  await pipeline(Readable.from(linesOf(rows, answerOf)), createWriteStream(answers));
  const out = join(folder.path, "calibration");
  const words = ["calibrate", labels, "--answers", answers, "--out", out];
  const runs: Record<"report" | "parsing", ProgramUsage[]> = { report: [], parsing: [] };
  for (let round = 1; round <= calibrateRounds; round += 1) {
    tell(`calibrate, ${rows} rows, ${round} of ${calibrateRounds}`);
    runs.report.push(await runProgram("packages/evaluator-cli/src/main.ts", { args: words }));
    await verifyReport(join(out, "report.json"), rows);
    const parse = "packages/benchmarks/src/process/parse-lines.ts";
    runs.parsing.push(await runProgram(parse, { args: [labels, answers] }));
  }
  const table = {
    title: `Calibration report of ${rows.toLocaleString("en")} labelled answers`,
    columns: ["", "whole command s", "processor s", "against parsing", "most memory MB"],
    rows: [
      ["JSON.parse of each line, and nothing else", ...printRuns(runs.parsing, runs.parsing)],
      ["`evaluator calibrate`", ...printRuns(runs.report, runs.parsing)],
    ],
  };
  return { tables: [table], data: { rows, ...runs } };
}

function printRuns(runs: readonly ProgramUsage[], parsing: readonly ProgramUsage[]): string[] {
  const cpu = runs.map(({ cpuMs }) => cpuMs / 1000);
  const cpuOfParsing = parsing.map(({ cpuMs }) => cpuMs / 1000);
  return [
    printSummary(summarise(runs.map(({ wallMs }) => wallMs / 1000))),
    printSummary(summarise(cpu)),
    printSummary(compareRounds(cpu, cpuOfParsing), "×"),
    printNumber(Math.max(...runs.map(({ peakMb }) => peakMb))),
  ];
}

/** @throws Error where the report is not about every row. */
async function verifyReport(path: string, rows: number): Promise<void> {
  const { reports } = JSON.parse(await readFile(path, "utf8")) as { reports: { n: number }[] };
  if (reports.length === 1 && reports[0]?.n === rows) return;
  throw new Error(`${path} is about ${reports.map(({ n }) => n).join(" and ")} rows, not ${rows}.`);
}

/** Lines of JSON, some thousand to a piece. */
function* linesOf(rows: number, recordOf: (row: number) => object): Generator<string> {
  const size = 5000;
  for (let row = 0; row < rows; row += size) {
    const length = Math.min(size, rows - row);
    yield Array.from({ length }, (_, at) => `${JSON.stringify(recordOf(row + at))}\n`).join("");
  }
}

function answerOf(row: number): object {
  const answers = { scam: { type: "boolean", probability: percentOf(row) / 100 } };
  return { id: `mail-${row}`, modelId: "maker/judge-7", answers };
}

/** Truths that the probabilities are about right about. */
function labelOf(row: number): object {
  return { id: `mail-${row}`, question: "scam", truth: (row * 7919) % 100 < percentOf(row) };
}

function percentOf(row: number): number {
  return (row * 613) % 101;
}
