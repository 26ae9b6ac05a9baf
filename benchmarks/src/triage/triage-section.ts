import { execFile } from "node:child_process";
import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { printSummary, type ReportTable, summarise } from "../figures.ts";
import type { SectionContext } from "../section-context.ts";
import { startContestants } from "../calls/contestants.ts";
import { repository } from "../client-build.ts";
import { mailState, sampleExchanges } from "../sample-requests.ts";

const LATENCY_MS = 20;

/** Measures the rate of the triage, journal and all, against a service that takes 20 ms. */
export async function triageSection(context: SectionContext): Promise<ReportTable[]> {
  await context.server.answer(sampleExchanges.mail, { latencyMs: LATENCY_MS });
  const rows: string[][] = [];
  for (const concurrency of [1, 8, 64]) rows.push(await measureRate(concurrency, context));
  return [
    {
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
      rows,
      note: "The bound uses the configured latency; the real one differs slightly. Asking lasts from the first request to the last reply, as the server sees it. Afterwards all results are on disk, and a second run asks for nothing.",
    },
  ];
}

async function measureRate(concurrency: number, context: SectionContext): Promise<string[]> {
  const { scale, tell } = context;
  const mails = scale.mailsPerCallInFlight * concurrency;
  const [raw] = await startContestants({ ...context, targets: ["undici"] });
  if (raw === undefined) throw new Error("Nobody asks.");
  const rounds: (Awaited<ReturnType<typeof runTriage>> & { rawMs: number })[] = [];
  await raw.run({ concurrency, maxCalls: concurrency }); // connects
  while (rounds.length < scale.triageRounds) {
    tell(`triage, ${concurrency} in flight, ${mails} mails, round ${rounds.length + 1}`);
    const triage = await measureTriage({ mails, concurrency }, context);
    // The same requests by raw undici, which keeps nothing.
    const { wallMs: rawMs } = await raw.run({ concurrency, maxCalls: mails });
    rounds.push({ ...triage, rawMs });
  }
  await raw.process.close();
  const boundMs = scale.mailsPerCallInFlight * LATENCY_MS;
  const over = (value: (round: (typeof rounds)[number]) => number) =>
    printSummary(summarise(rounds.map(value)));
  return [
    String(concurrency),
    mails.toLocaleString("en"),
    over(({ busyMs }) => (mails / busyMs) * 1000),
    over(({ busyMs }) => (100 * boundMs) / busyMs),
    over(({ rawMs }) => (100 * boundMs) / rawMs),
    over(({ latencyMs }) => latencyMs),
    over(({ wallMs }) => wallMs / 1000),
  ];
}

interface TriageRun {
  readonly mails: number;
  readonly concurrency: number;
}

/**
 * Runs the triage twice over new mails and returns the cost of the first run.
 *
 * @throws Error if it does not ask once for each mail; more would mean that the journal lacks an answer.
 */
async function measureTriage(run: TriageRun, { server }: SectionContext) {
  await using folder = await mkdtempDisposable(join(tmpdir(), "evaluator-benchmark-"));
  await writeInbox(join(folder.path, "inbox.json"), run.mails);
  const figures = await runTriage(folder.path, run, server);
  if (figures.requests !== run.mails) {
    throw new Error(`${figures.requests} requests, not ${run.mails}.`);
  }
  const { requests } = await runTriage(folder.path, run, server);
  if (requests === 0) return figures;
  throw new Error(`The triage asked ${requests} times for answers that its journal holds.`);
}

/**
 * Runs the triage as a person does, and verifies that every mail's results are on disk; its `wallMs` is
 * of the whole command, start and table included.
 *
 * @throws Error when it ends badly or leaves a mail out.
 */
async function runTriage(
  folder: string,
  { mails, concurrency }: TriageRun,
  server: SectionContext["server"],
) {
  await server.takeCounts();
  const words = ["--concurrency", String(concurrency), "--yes", "--top", "1"];
  const program = ["apps/triage/src/main.ts", join(folder, "inbox.json"), ...words];
  const { gateway } = server.addresses;
  const env = { AI_GATEWAY_API_KEY: "benchmark-key", EVALUATOR_BASE_URL: gateway };
  const startedAt = performance.now();
  await promisify(execFile)(process.execPath, program, { cwd: repository, env });
  const wallMs = performance.now() - startedAt;
  await verifyResults(join(folder, "inbox.triage.json"), mails);
  return { wallMs, ...(await server.takeCounts()) };
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
  const whole = records.filter(({ id, category, scam }, index) => {
    return id === `mail-${index}` && category === "security_alert" && scam === 0.31;
  }).length;
  if (whole === mails && records.length === mails) return;
  throw new Error(`${path} holds ${whole} whole records of ${records.length}, not ${mails}.`);
}
