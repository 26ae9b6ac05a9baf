import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createEvaluator } from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import {
  recordingTransport,
  sampleQuestions,
  sampleResponse,
  sampleSource,
} from "../testing/samples.ts";
import { giveResults } from "./results.ts";
import type { RunContext } from "./run-context.ts";

async function sampleEvaluation() {
  const evaluator = createEvaluator({ transport: recordingTransport() });
  return await evaluator.evaluate({ state: { subject: "Lunch" }, questions: sampleQuestions });
}

/** Gives the results of a run with one row for each id, and returns what it printed and wrote. */
async function results(
  ids: readonly string[],
  { of = ids.length, kept }: { of?: number; kept: (index: number) => KeptEvaluation | null },
) {
  const outputPath = join(await temporaryFolder(), "out.json");
  const printed = { stdout: "", stderr: "" };
  const context = {
    run: { format: "json", raw: true },
    columns: [],
    source: { ...sampleSource, table: null },
    input: { length: of, leftOutCount: 0 },
    outputPath,
    signal: new AbortController().signal,
    stdout: { write: (text: string) => (printed.stdout += text) },
    stderr: { write: (text: string) => (printed.stderr += text) },
  } as unknown as RunContext;
  const rows = async function* rows() {
    for (const [index, id] of ids.entries()) {
      const [input, record] = [{ id, state: {}, source: null }, { id }];
      yield { index, input, record, kept: kept(index), isRefused: true };
    }
  };
  const run = { records: ids.length, hasErrors: false, news: null };
  await giveResults({ ...run, rows, onWritten() {} }, context);
  return { ...printed, outputPath, written: JSON.parse(await readFile(outputPath, "utf8")) };
}

test("with --raw one call is one line of JSON: the id, the answers, the provider metadata", async () => {
  const evaluation = await sampleEvaluation();
  const { stdout } = await results(["m-1"], { kept: () => evaluation });
  const { answers, providerMetadata } = sampleResponse();
  expect(stdout).toBe(`${JSON.stringify({ id: "m-1", answers, providerMetadata })}\n`);
});

test("what would steer a terminal is written as an escape and still parses to the same", async () => {
  const id = "a\u001b[2J\u009b31m\u202eb\u2028c\u{e0041}";
  const evaluation = await sampleEvaluation();
  const { stdout } = await results([id], { kept: () => evaluation });
  expect(stdout).toContain(String.raw`"a\u001b[2J\u009b31m\u202eb\u2028c\udb40\udc41"`);
  expect(JSON.parse(stdout)).toMatchObject({ id });
});

test.each([
  [{ records: 42, failed: 0, of: 42 }, "Wrote 42 of 42 records to PATH"],
  [{ records: 1, failed: 0, of: 1 }, "Wrote 1 of 1 record to PATH"],
  [
    { records: 1, failed: 1, of: 4 },
    'Wrote 1 of 4 records to PATH; 1 of them has no answer, and says why in "error"',
  ],
  [
    { records: 4000, failed: 1200, of: 4000 },
    'Wrote 4,000 of 4,000 records to PATH; 1,200 of them have no answer, and say why in "error"',
  ],
])("tells what was written, and what of it failed: %j", async ({ records, failed, of }, line) => {
  const evaluation = await sampleEvaluation();
  const ids = Array.from({ length: records }, (_, index) => `m-${index}`);
  const kept = (index: number) => (index < failed ? null : evaluation);
  const { stderr, outputPath, written } = await results(ids, { of, kept });
  expect(stderr).toBe(`${line.replace("PATH", outputPath)}\n`);
  expect(written).toHaveLength(records);
});
