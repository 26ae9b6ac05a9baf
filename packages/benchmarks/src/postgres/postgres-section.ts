import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { migrate, postgresLimits } from "evaluator-postgres";
import { Client } from "pg";
import { type OwnServer, startOwnServer } from "evaluator-cli-kit/postgres-server";
import { type Contestant, startContestants } from "../calls/contestants.ts";
import { triageQuestions } from "../sample-requests.ts";
import { printNumber } from "../figures.ts";
import { runProgram } from "../process/program.ts";
import type { SectionContext, SectionResult } from "../section.ts";
import { inboxName, runTriage, temporaryFolder, writeInbox } from "../triage/run-triage.ts";
import { readUsage } from "./server-usage.ts";

const LATENCY_MS = 20;
const CONCURRENCY = 64;
/** Records of a first run, to take a command's start off what each record costs. */
const FEW_RECORDS = 200;
const LEASES = 500;
// The server's counts of transactions are late by up to a second.
const STATISTICS_MS = 1500;

/** Measures runs that many machines share: what a record costs, exports, and the shared limit. */
export async function postgresSection(context: SectionContext): Promise<SectionResult> {
  const given = process.env["TEST_POSTGRES_URL"] || null;
  const own = given === null ? await startOwnServer() : null;
  const url = given ?? own?.url;
  if (url === undefined) {
    const note =
      "Skipped: no PostgreSQL was found. Install it (apt-get install postgresql), or set TEST_POSTGRES_URL.";
    return { tables: [{ title: "PostgreSQL", columns: ["", ""], rows: [], note }], data: null };
  }
  try {
    return await measure(url, own, context);
  } finally {
    await own?.stop();
  }
}

async function measure(
  serverUrl: string,
  own: OwnServer | null,
  context: SectionContext,
): Promise<SectionResult> {
  const url = new URL(serverUrl);
  url.pathname = "/evaluator_benchmark";
  const admin = new Client(serverUrl);
  await admin.connect();
  await admin.query("drop database if exists evaluator_benchmark with (force)");
  await admin.query("create database evaluator_benchmark");
  await migrate(url.href);
  const client = new Client(url.href);
  await client.connect();
  try {
    const records = await measureRecords(url.href, { client, own, context });
    const exports = await measureExports(url.href, client, context);
    const limiter = await measureLimiter(url.href, context);
    return { tables: tablesOf({ records, exports, limiter }), data: { records, exports, limiter } };
  } finally {
    await client.end();
    await admin.query("drop database evaluator_benchmark with (force)");
    await admin.end();
  }
}

interface RecordFigures {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly rawCpuUs: number;
  readonly databaseUs: number | null;
  readonly transactions: number;
  readonly walBytes: number;
}

/** What a record takes from its loading to its line in the results, a command's start left out. */
async function measureRecords(
  journal: string,
  { client, own, context }: { client: Client; own: OwnServer | null; context: SectionContext },
): Promise<RecordFigures> {
  const { server, scale, tell } = context;
  await server.answer(triageQuestions(), { latencyMs: LATENCY_MS });
  const mails = scale.mailsPerCallInFlight * CONCURRENCY;
  const measured = async (count: number, name: string) => {
    tell(`postgres, ${count} records`);
    await using folder = await temporaryFolder();
    await writeInbox(join(folder.path, inboxName), count);
    await client.query("truncate evaluator.answers");
    const before = await readUsage(client, own);
    const run = { folder: folder.path, mails: count, concurrency: CONCURRENCY, journal };
    const triage = await runTriage(run, server);
    await wait(STATISTICS_MS);
    const after = await readUsage(client, own);
    if (triage.requests !== count) throw new Error(`${name}: ${triage.requests} requests.`);
    return { triage, before, after };
  };
  const few = await measured(FEW_RECORDS, "few records");
  const many = await measured(mails, "many records");
  const raw = await measureRaw(mails, context);
  const each = (value: (one: typeof few) => number) =>
    (value(many) - value(few)) / (mails - FEW_RECORDS);
  const isSeen = many.after.cpuMs !== null;
  return {
    perSecond: (mails / many.triage.busyMs) * 1000,
    cpuUs: each(({ triage }) => triage.cpuMs * 1000),
    rawCpuUs: raw,
    databaseUs: isSeen
      ? each(({ before, after }) => ((after.cpuMs ?? 0) - (before.cpuMs ?? 0)) * 1000)
      : null,
    transactions: each(({ before, after }) => after.transactions - before.transactions),
    walBytes: each(({ before, after }) => after.walBytes - before.walBytes),
  };
}

/** The processor time of a call by raw undici, which keeps nothing, in microseconds. */
async function measureRaw(calls: number, context: SectionContext): Promise<number> {
  const scope = { ...context, targets: ["undici"] as const, profileFolder: null };
  const [raw]: Contestant[] = await startContestants(scope, { questions: triageQuestions() });
  if (raw === undefined) throw new Error("Nobody asks.");
  try {
    await raw.run({ concurrency: CONCURRENCY, maxCalls: CONCURRENCY });
    const { cpuUs } = await raw.run({ concurrency: CONCURRENCY, maxCalls: calls });
    return cpuUs / calls;
  } finally {
    await raw.process.close();
  }
}

interface ExportFigures {
  readonly rows: number;
  readonly perSecond: number;
  /** Of the whole command, for each record. */
  readonly cpuUs: number;
  readonly peakMb: number;
}

async function measureExports(
  url: string,
  client: Client,
  { scale, tell }: SectionContext,
): Promise<ExportFigures[]> {
  const figures: ExportFigures[] = [];
  for (const rows of scale.exportedRows) {
    tell(`postgres, export of ${rows} records`);
    const run = await fillRun(client, rows);
    const { wallMs, cpuMs, peakMb } = await runProgram("apps/triage/src/main.ts", {
      args: ["export", "--run", String(run), "--format", "ndjson"],
      env: { TRIAGE_JOURNAL: url },
      isSilent: true,
    });
    const [perSecond, cpuUs] = [(rows / wallMs) * 1000, (cpuMs * 1000) / rows];
    figures.push({ rows, perSecond, cpuUs, peakMb });
    await client.query("select evaluator.forget_run($1)", [run]);
  }
  return figures;
}

/** Makes a run of many records that are answered as a real one is, digests included. */
async function fillRun(client: Client, rows: number): Promise<number> {
  const { rows: made } = await client.query<{ run: number }>(
    `insert into evaluator.runs (run, digest, setup, name, facts, state, records, chunks_left, answered)
     select max(run) + 1, 'filled ' || $1::integer, max(setup), 'filled', '{}', 'done', $1::integer, 0, $1::integer
     from evaluator.runs returning run`,
    [rows],
  );
  const run = made[0]?.run ?? 0;
  await client.query(
    `insert into evaluator.records (run, idx, id, key, state)
     select $1::integer, n, to_json('mail-' || n)::text,
       left(translate(encode(sha256(convert_to($1::integer || ' ' || $2::integer || ' ' || n, 'UTF8')),
         'base64'), '+/', '-_'), 22), state
     from generate_series(0, $2::integer - 1) n,
       (select state_sample as state from evaluator.runs where state_sample is not null limit 1) one`,
    [run, rows],
  );
  // The evaluation is the sample itself, so nothing differs from it; its digest is of the whole text.
  await client.query(
    `insert into evaluator.answers
       (key, run, setup, state_digest, evaluation, digest, input_tokens, cost_usd)
     select key, run, setup, state_digest, '', substr(sha256(convert_to(
         key || E'\\n' || encode(state_digest, 'hex') || E'\\n' || sample, 'UTF8')), 1, 16), 300, 0
     from (
       select key, run, substr(sha256(convert_to(state, 'UTF8')), 1, 8) as state_digest
       from evaluator.records where run = $1::integer) filled,
       (select setup, sample from evaluator.setups where sample is not null limit 1) one`,
    [run],
  );
  await client.query("analyze evaluator.records, evaluator.answers");
  return run;
}

/** How long a lease of the shared limit takes, in microseconds, and so each of its two calls. */
async function measureLimiter(url: string, { tell }: SectionContext) {
  tell("postgres, the shared limit");
  await using store = await postgresLimits(url);
  const limits = { requestsPerMinute: 1_000_000 };
  const ask = { key: "benchmark", member: "one", requests: 2, tokens: 0, limits };
  await store.lease(ask);
  const startedAt = performance.now();
  for (let lease = 0; lease < LEASES; lease += 1) await store.lease(ask);
  const leaseUs = ((performance.now() - startedAt) * 1000) / LEASES;
  return { leaseUs, callUs: leaseUs / ask.requests };
}

function tablesOf({
  records,
  exports,
  limiter,
}: {
  records: RecordFigures;
  exports: readonly ExportFigures[];
  limiter: { leaseUs: number; callUs: number };
}) {
  const record = [
    ["records a second while asking", printNumber(records.perSecond)],
    ["processor time of the program, µs a record", printNumber(records.cpuUs)],
    ["of raw undici, which keeps nothing, µs a call", printNumber(records.rawCpuUs)],
    [
      "of the database, µs a record",
      records.databaseUs === null ? "-" : printNumber(records.databaseUs),
    ],
    ["transactions a record", printNumber(records.transactions)],
    ["log of the database, bytes a record", printNumber(records.walBytes)],
    ["a lease of the shared limit, µs", printNumber(limiter.leaseUs)],
    ["of that a call, two to a lease, µs", printNumber(limiter.callUs)],
  ];
  return [
    {
      title: `Triage on PostgreSQL, ${CONCURRENCY} in flight, a service that takes ${LATENCY_MS} ms`,
      columns: ["", "figure"],
      rows: record,
      note: "From planning and loading to the results; what a command takes to start is left out.",
    },
    {
      title: "Export of a run on PostgreSQL",
      columns: ["records", "records/s", "processor time, µs a record", "peak MB"],
      rows: exports.map(({ rows, perSecond, cpuUs, peakMb }) => [
        rows.toLocaleString("en"),
        printNumber(perSecond),
        printNumber(cpuUs),
        printNumber(peakMb),
      ]),
      note: "The whole command, its start included; the processor time is the program's. All answers are the same.",
    },
  ];
}
