import { appendFile, readFile } from "node:fs/promises";
import type { Evaluation } from "evaluator-client";
import { cache } from "evaluator-client/cache";
import {
  checkOutput,
  type CliContext,
  createProgress,
  systemErrorCode,
  toFileError,
} from "evaluator-kit";
import { z } from "zod";
import { toWire } from "../decision/decide.ts";
import { tierQuestions } from "../decision/tier-question.ts";
import { type Label, readSomeLabels, toText } from "../labels/read-labels.ts";
import { parsedLine } from "../report/read-records.ts";
import type { Services } from "../services/connect-services.ts";

/** A prompt with its decision. */
export type DecidedPrompt = Label & { readonly decision: NonNullable<Label["decision"]> };

interface EvalRun {
  readonly services: Services;
  readonly context: CliContext;
}

/** Reads and decides labelled prompts. Each different text is asked once, also over several runs. */
export async function decidePrompts(labelsPath: string, keptPath: string, run: EvalRun) {
  const { stderr } = run.context;
  const labelledPrompts = await readSomeLabels(labelsPath, (warning) => void stderr.write(warning));
  const undecidedPrompts = labelledPrompts.filter(({ decision }) => decision === null);
  const unknownTexts = [...new Set(undecidedPrompts.map(({ messages }) => toText(messages)))];
  const { decisions, asked: askedTotals } = await decideTexts(unknownTexts, keptPath, run);
  const decidedPrompts = labelledPrompts.flatMap((prompt) => {
    const decision = prompt.decision ?? decisions.get(toText(prompt.messages));
    return decision === undefined ? [] : Object.assign(prompt, { decision });
  });
  return { decided: decidedPrompts, asked: askedTotals };
}

/** Returns the decisions, their number and cost. Each is in a file, without its text, before the next. */
async function decideTexts(
  promptTexts: readonly string[],
  keptPath: string,
  { services: { evaluator, engineAddress }, context }: EvalRun,
) {
  const decisions = new Map<string, DecidedPrompt["decision"]>();
  if (promptTexts.length === 0) return { decisions, asked: { paid: 0, costUsd: 0, kept: 0 } };
  const store = await openKeptEvaluations(keptPath);
  const storeErrors: unknown[] = [];
  const onStoreError = (error: unknown) => void storeErrors.push(error);
  const evaluationCache = cache({ store, onStoreError });
  const progress = createProgress(context);
  const questions = tierQuestions;
  const requests = promptTexts.map((text) => ({ state: { user_message: text }, questions }));
  const batchOptions = { order: "completion", signal: context.signal } as const;
  const batch = evaluator.with(evaluationCache).evaluateMany(requests, batchOptions);
  for await (const batchItem of batch) {
    if (batchItem.status === "failed") throw batchItem.error;
    if (storeErrors.length > 0) throw storeErrors[0]; // the next ones would be paid and lost too
    const { answers, confidence, modelId } = batchItem.evaluation;
    const { choice: tierChosen, probabilities } = answers.tier;
    const wire = toWire(batchItem.evaluation, engineAddress);
    const from = { confidence: confidence.tier, evaluatorModelId: modelId, wire };
    decisions.set(promptTexts[batchItem.index] ?? "", { tierChosen, probabilities, ...from });
    progress.show(() => `${decisions.size} of ${promptTexts.length} decided`);
  }
  progress.end();
  const { misses: paidCount, hits: keptCount } = evaluationCache.savings;
  return { decisions, asked: { paid: paidCount, costUsd: batch.totals.costUsd, kept: keptCount } };
}

const keptSchema = z.object({ key: z.string(), evaluation: z.unknown() });

/** Opens or creates the file of paid evaluations; an invalid line is asked again. */
async function openKeptEvaluations(storePath: string) {
  await checkOutput(storePath, [], { isOwn: (beginning) => beginning.startsWith('{"key":') });
  const storedText = await readFile(storePath, "utf8").catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return "";
    throw toFileError(error, `read ${storePath}`);
  });
  const storedLines = storedText.split("\n").flatMap((line) => parsedLine(line, keptSchema) ?? []);
  const evaluations = new Map(storedLines.map(({ key, evaluation }) => [key, evaluation]));
  const append = (newLine: string) =>
    appendFile(storePath, newLine, { mode: 0o600 }).catch((error: unknown) => {
      throw toFileError(error, `write ${storePath}`);
    });
  await append(/[^\n]$/.test(storedText) ? "\n" : ""); // a line that was cut short
  return {
    get: (key: string) => evaluations.get(key),
    async set(key: string, { headers, ...givenParts }: Evaluation) {
      const marks = Object.entries(headers).filter(([name]) => name === "x-evaluator-emulator");
      // A service's own words may hold the text.
      const emptyFields = { warnings: [], providerMetadata: {}, raw: null };
      const evaluation = { ...givenParts, ...emptyFields, headers: Object.fromEntries(marks) };
      await append(`${JSON.stringify({ key, evaluation })}\n`);
    },
  };
}
