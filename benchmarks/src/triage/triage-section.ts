import { join } from "node:path";
import { type Contestant, startContestants } from "../calls/contestants.ts";
import { sampleExchanges } from "../sample-requests.ts";
import { printSummary, summarise } from "../figures.ts";
import type { ReportTable, SectionContext } from "../section.ts";
import {
  writeInbox,
  inboxName,
  resumeTriage,
  runTriage,
  type TriageFigures,
  temporaryFolder,
} from "./run-triage.ts";

const LATENCY_MS = 20;

/** The times of the runs at one number of calls in flight, round by round. */
type RateFigures = Awaited<ReturnType<typeof measureRate>>;

interface Round {
  readonly triage: TriageFigures;
  /** The time raw undici takes for the same requests, keeping nothing. */
  readonly rawMs: number;
}

/** Measures the rate of the triage, journal and all, against a service that takes 20 ms. */
export async function triageSection(context: SectionContext): Promise<ReportTable[]> {
  await context.server.answer(sampleExchanges.mail, { latencyMs: LATENCY_MS });
  const figures: RateFigures[] = [];
  for (const concurrency of [1, 8, 64]) figures.push(await measureRate(concurrency, context));
  return [toTable(figures)];
}

async function measureRate(concurrency: number, context: SectionContext) {
  const { scale, tell } = context;
  const mails = scale.mailsPerCallInFlight * concurrency;
  const raw = await startRaw(context);
  const rounds: Round[] = [];
  try {
    await raw.run({ concurrency, maxCalls: concurrency }); // connects
    while (rounds.length < scale.triageRounds) {
      tell(`triage, ${concurrency} in flight, ${mails} mails, round ${rounds.length + 1}`);
      const triage = await measureTriage(concurrency, mails, context);
      const { wallMs: rawMs } = await raw.run({ concurrency, maxCalls: mails });
      rounds.push({ triage, rawMs });
    }
  } finally {
    await raw.process.close();
  }
  return { concurrency, mails, boundMs: scale.mailsPerCallInFlight * LATENCY_MS, rounds };
}

async function measureTriage(
  concurrency: number,
  mails: number,
  { server }: SectionContext,
): Promise<TriageFigures> {
  await using folder = await temporaryFolder();
  await writeInbox(join(folder.path, inboxName), mails);
  const run = { folder: folder.path, mails, concurrency };
  const figures = await runTriage(run, server);
  if (figures.requests !== mails) throw new Error(`${figures.requests} requests, not ${mails}.`);
  await resumeTriage(run, server);
  return figures;
}

async function startRaw(context: SectionContext): Promise<Contestant> {
  const scope = { ...context, targets: ["undici"] as const, profileFolder: null };
  const [raw] = await startContestants(scope);
  if (raw === undefined) throw new Error("Nobody asks.");
  return raw;
}

function toTable(figures: readonly RateFigures[]): ReportTable {
  return {
    title: `Triage with its journal, a service that takes ${LATENCY_MS} ms`,
    columns: [
      "in flight",
      "mails",
      "mails/s while asking",
      "of the latency bound, %",
      "raw undici, of the bound, %",
      "service ms",
      "whole command s",
    ],
    rows: figures.map(toRow),
    note: "The bound uses the configured latency; the real one differs slightly. Asking lasts from the first request to the last reply, as the server sees it. Afterwards all results are on disk, and a second run asks for nothing.",
  };
}

function toRow({ concurrency, mails, boundMs, rounds }: RateFigures): string[] {
  const over = (value: (round: Round) => number) => printSummary(summarise(rounds.map(value)));
  return [
    String(concurrency),
    mails.toLocaleString("en"),
    over(({ triage }) => (mails / triage.busyMs) * 1000),
    over(({ triage }) => (100 * boundMs) / triage.busyMs),
    over(({ rawMs }) => (100 * boundMs) / rawMs),
    over(({ triage }) => triage.latencyMs),
    over(({ triage }) => triage.wallMs / 1000),
  ];
}
