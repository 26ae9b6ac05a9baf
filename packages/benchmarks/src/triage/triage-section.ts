import { join } from "node:path";
import { startContestants } from "../calls/contestant.ts";
import { triageQuestions } from "../exchange/triage-questions.ts";
import { printNumber } from "../report/print-number.ts";
import type { ReportTable, SectionResult } from "../report/section.ts";
import type { SectionContext } from "../section.ts";
import { writeInbox } from "./inbox.ts";
import { inboxName, resumeTriage, runTriage, type TriageFigures } from "./run-triage.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const LATENCY_MS = 20;

/** What a run at one number of calls in flight took. */
interface RateFigures extends TriageFigures {
  readonly concurrency: number;
  readonly mails: number;
  /** The time it takes when nothing but the service's latency counts. */
  readonly boundMs: number;
  /** The time raw undici takes for the same requests, keeping nothing. */
  readonly rawMs: number;
}

/** Measures the rate of the triage, journal and all, against a service that takes 20 ms. */
export async function triageSection(context: SectionContext): Promise<SectionResult> {
  await context.server.answer(triageQuestions(), { latencyMs: LATENCY_MS });
  const figures: RateFigures[] = [];
  for (const concurrency of [1, 8, 64]) figures.push(await measureRate(concurrency, context));
  return { tables: [toTable(figures)], data: figures };
}

async function measureRate(concurrency: number, context: SectionContext): Promise<RateFigures> {
  const { server, scale, tell } = context;
  const mails = scale.callsPerLane * concurrency;
  tell(`triage, ${concurrency} in flight, ${mails} mails`);
  await using folder = await temporaryFolder();
  await writeInbox(join(folder.path, inboxName), mails);
  const run = { folder: folder.path, mails, concurrency };
  const figures = await runTriage(run, server);
  if (figures.requests !== mails) throw new Error(`${figures.requests} requests, not ${mails}.`);
  await resumeTriage(run, server);
  const boundMs = scale.callsPerLane * LATENCY_MS;
  return { ...figures, concurrency, mails, boundMs, rawMs: await measureRaw(run, context) };
}

async function measureRaw(
  { mails, concurrency }: { mails: number; concurrency: number },
  context: SectionContext,
): Promise<number> {
  const scope = { ...context, targets: ["undici"] as const, profileFolder: null };
  const [raw] = await startContestants(scope, { questions: triageQuestions() });
  if (raw === undefined) throw new Error("Nobody asks.");
  try {
    await raw.run({ concurrency, maxCalls: concurrency }); // connects
    return (await raw.run({ concurrency, maxCalls: mails })).wallMs;
  } finally {
    await raw.process.close();
  }
}

function toTable(figures: readonly RateFigures[]): ReportTable {
  return {
    title: `Triage with its journal, a service that takes ${LATENCY_MS} ms`,
    columns: [
      "in flight",
      "mails",
      "mails/s while asking",
      "of the latency bound",
      "raw undici, of the bound",
      "service ms",
      "whole command s",
    ],
    rows: figures.map(({ concurrency, mails, busyMs, boundMs, rawMs, latencyMs, wallMs }) => [
      String(concurrency),
      mails.toLocaleString("en"),
      printNumber((mails / busyMs) * 1000),
      printShare(boundMs, busyMs),
      printShare(boundMs, rawMs),
      printNumber(latencyMs),
      printNumber(wallMs / 1000),
    ]),
    note: "The bound is the latency as told; the service takes a little longer. Asking lasts from the first request to the last reply, as the server sees it. Afterwards all results are on disk, and a second run asks for nothing.",
  };
}

function printShare(boundMs: number, ms: number): string {
  return `${printNumber((100 * boundMs) / ms)} %`;
}
