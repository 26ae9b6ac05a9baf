import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createEmulator } from "evaluator-emulator";
import { sampleTicket } from "../tickets/ticket-source.ts";
import { AnsweredCalls } from "../start-program.ts";
import { startGatewayProgram, startOnGateway } from "../tickets/start-tickets.ts";

const MAILS = 80;
const CONCURRENCY = 4;
const LIFE_MS = 1200;
const ANSWERS_AT_MOST = 20;
const POLL_MS = 10;

/** What killing a run over and over came to. */
export interface KillReport {
  readonly kills: number;
  /** How many of them came after an answer of the same run. */
  readonly killsWhileAsking: number;
  /** How often the whole file was reached; each time all starts anew. */
  readonly rounds: number;
  /** What differs from an undisturbed run, in words. */
  readonly differences: readonly string[];
  /** Calls the service answered in full, above one for each ticket of each round. */
  readonly askedAgain: number;
  /** The most that may be: the calls in flight at each kill. */
  readonly bound: number;
  /** What the summaries of the last runs of all rounds said of calls asked again in them. */
  readonly summaries: readonly string[];
}

/** Kills a run at random moments, while the service throttles and resets, and starts it again. */
export async function killAgainAndAgain(folder: string, kills: number): Promise<KillReport> {
  const expected = await undisturbedRun(join(folder, "undisturbed"));
  const disturbed = join(folder, "disturbed");
  await writeInbox(disturbed);
  const output = join(disturbed, "inbox.tickets.json");
  const emulator = createEmulator({
    faults: [
      { kind: "latency", latencyMs: 4 },
      { kind: "status", status: 429, retryAfter: 0, rate: 0.01 },
      { kind: "reset", rate: 0.02 },
      { kind: "reset-body", rate: 0.01 },
    ],
  });
  const { gatewayBaseUrl } = await emulator.listen();
  const answered = new AnsweredCalls(emulator);
  const differences: string[] = [];
  const summaries: string[] = [];
  let rounds = 0;
  let killsWhileAsking = 0;
  // It needs no process of its own.
  const runToEnd = async () => ({
    ...(await startOnGateway(disturbed, gatewayBaseUrl)),
    isKilled: false,
  });
  const runAndKill = async (kill: number) => {
    const options = { gatewayBaseUrl, concurrency: CONCURRENCY };
    const { child, ended } = startGatewayProgram(disturbed, options);
    const life = new AbortController();
    const end = ended.finally(() => life.abort());
    await killMoment(kill, answered, life.signal).catch(() => null);
    const isKilled = child.exitCode === null && child.kill("SIGKILL");
    return { ...(await end), isKilled };
  };
  for (let killed = 0; ;) {
    const isLast = killed === kills;
    const before = answered.total;
    const { exitCode, stderr, isKilled } = isLast ? await runToEnd() : await runAndKill(killed);
    killed += Number(isKilled);
    killsWhileAsking += Number(isKilled && answered.total > before);
    await answered.count();
    if (existsSync(output) && (await readFile(output, "utf8")) !== expected) {
      differences.push(`after kill ${killed}, the output is not that of an undisturbed run`);
    }
    if (exitCode === null) continue;
    if (exitCode !== 0) differences.push(`exit code ${exitCode}: ${stderr}`);
    rounds += 1;
    summaries.push(stderr);
    if (isLast || exitCode !== 0) break;
    await rm(disturbed, { recursive: true });
    await writeInbox(disturbed);
  }
  await emulator.close();
  const askedAgain = answered.total - rounds * MAILS;
  const bound = kills * CONCURRENCY;
  return { kills, killsWhileAsking, rounds, differences, askedAgain, bound, summaries };
}

// By answers, since a slow machine has not even started when a short time is over; every fourth by
// time, so that starts are hit as well.
async function killMoment(
  kill: number,
  answered: AnsweredCalls,
  signal: AbortSignal,
): Promise<void> {
  if (kill % 4 === 3) {
    await wait(Math.random() * LIFE_MS, null, { signal });
    return;
  }
  const enough = answered.total + Math.random() * ANSWERS_AT_MOST;
  while (answered.total < enough) {
    await wait(POLL_MS, null, { signal });
    await answered.count();
  }
  await wait(Math.random() * POLL_MS, null, { signal });
}

async function undisturbedRun(folder: string): Promise<string> {
  await writeInbox(folder);
  const emulator = createEmulator();
  const { gatewayBaseUrl } = await emulator.listen();
  const { stderr } = await startOnGateway(folder, gatewayBaseUrl);
  await emulator.close();
  return await readFile(join(folder, "inbox.tickets.json"), "utf8").catch(() => {
    throw new Error(`The undisturbed run wrote nothing: ${stderr}`);
  });
}

async function writeInbox(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const tickets = Array.from({ length: MAILS }, (_, index) =>
    sampleTicket({
      id: `m-${index}`,
      subject: `Statement ${index}`,
      text: "Pay now. ".repeat(index % 7),
    }),
  );
  await writeFile(join(folder, "inbox.json"), JSON.stringify(tickets));
}
