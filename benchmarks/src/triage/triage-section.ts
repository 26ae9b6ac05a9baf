import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { type Contestant, startContestants } from "../calls/contestants.ts";
import { programs, repository } from "../client-build.ts";
import { printSummary, summarise } from "../figures.ts";
import type { BenchmarkServer } from "../process/start-servers.ts";
import { mailState, sampleExchanges } from "../sample-requests.ts";
import type { ReportTable, SectionContext } from "../bench-program.ts";

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

/** One run of the triage over an input file. */
interface TriageRun {
  readonly folder: string;
  /** How many mails the input has. */
  readonly mails: number;
  readonly concurrency: number;
}

/** The cost of a run; `wallMs` is of the whole command, start and table included. */
type TriageFigures = Awaited<ReturnType<typeof runTriage>>;

/** The input file in a run's folder. */
const inboxName = "inbox.json";

/**
 * Runs the triage as a person does, and verifies that every mail's results are on disk.
 *
 * @throws Error when it ends badly or leaves a mail out.
 */
async function runTriage(run: TriageRun, server: BenchmarkServer) {
  const { folder, mails, concurrency } = run;
  await server.takeCounts();
  const words = [join(folder, inboxName), "--concurrency", String(concurrency), "--yes"];
  const program = [programs.triage, ...words, "--top", "1"];
  const { gateway } = server.addresses;
  const env = { AI_GATEWAY_API_KEY: "benchmark-key", EVALUATOR_BASE_URL: gateway };
  const startedAt = performance.now();
  await promisify(execFile)(process.execPath, program, { cwd: repository, env });
  const wallMs = performance.now() - startedAt;
  await verifyResults(join(folder, inboxName.replace(".json", ".triage.json")), mails);
  return { wallMs, ...(await server.takeCounts()) };
}

/**
 * Runs the triage again over answered mails.
 *
 * @throws Error if it asks anything, because then the journal lacks an answer.
 */
async function resumeTriage(run: TriageRun, server: BenchmarkServer): Promise<TriageFigures> {
  const figures = await runTriage(run, server);
  if (figures.requests === 0) return figures;
  throw new Error(`The triage asked ${figures.requests} times for answers that its journal holds.`);
}

/** Writes an input file of that many mails. */
export async function writeInbox(path: string, mails: number): Promise<void> {
  const records = Array.from({ length: mails }, (_, index) => ({
    id: `mail-${index}`,
    ...mailState(index),
  }));
  await writeFile(path, JSON.stringify(records));
}

/**
 * Makes sure that the results of every mail are on disk.
 *
 * @throws Error when a record is missing or holds another answer than the server gave.
 */
export async function verifyResults(path: string, mails: number): Promise<void> {
  const records = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>[];
  const whole = records.filter(isWhole).length;
  if (whole === mails && records.length === mails) return;
  throw new Error(`${path} holds ${whole} whole records of ${records.length}, not ${mails}.`);
}

function isWhole({ id, category, scam }: Record<string, unknown>, index: number): boolean {
  return id === `mail-${index}` && category === "security_alert" && scam === 0.31;
}

/** Makes a temporary folder that is removed after use. */
async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "evaluator-benchmark-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
