import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AuthenticationError, type EvaluationRequest, type Transport } from "evaluator-client";
import type { PlayedCommand, Trouble } from "./random-commands.ts";
import { statusError } from "./refusing.ts";
import { sampleCalibration, sampleResponse } from "./samples.ts";
import type { Start } from "./start-in-process.ts";
import { folderWith, stoppedClock } from "./tickets/start-tickets.ts";
import { type Ticket, ticketSource } from "./tickets/ticket-source.ts";

const DAY_MS = 86_400_000;
const ids = { type: null, requestId: null, generationId: null };
const details = { ...ids, status: 401, retryAfterMs: null, needsPaidCredits: false };

/** Plays commands one after the other in a folder; returns for each what it asked, printed and wrote. */
export async function playCommands(
  commands: readonly PlayedCommand[],
  start: Start,
  env: Readonly<Record<string, string>>,
) {
  const cwd = await folderWith([]);
  await writeFile(join(cwd, "calibration.json"), JSON.stringify(await promiseOf("us")));
  const endedCalls = new Set<string>();
  const outcomes = [];
  for (const [at, command] of commands.entries()) {
    const { words, tickets, team } = command;
    if (tickets !== undefined) await writeFile(join(cwd, "inbox.json"), JSON.stringify(tickets));
    const { transport, asked, signal } = serviceFor(command, endedCalls);
    const epochNow = () => Date.parse("2026-11-01") + at * DAY_MS;
    const clock = { ...stoppedClock, epochNow };
    const context = { cwd, transport, signal, clock, env: { ...env, TICKETS_TEAM: team } };
    const { exitCode, stdout, stderr } = await start(words, context);
    const results = await readFile(join(cwd, "inbox.tickets.json"), "utf8").catch(() => "none");
    const printed = toCommon(stderr.replaceAll(cwd, "."));
    outcomes.push({ words, exitCode, asked, stdout, stderr: printed, results });
  }
  return outcomes;
}

/** Returns a calibration that promises a no of the less probable scams, for the questions of a team. */
async function promiseOf(team: string) {
  const questions = (await ticketSource.questions?.({ TICKETS_TEAM: team })) ?? {};
  const evidence = { maxRisk: 0.05, confidence: 0.95, n: 80, wrong: 0 };
  const threshold = { question: "scam", action: "no", threshold: 0.9, ...evidence };
  return sampleCalibration(questions, { parameters: {}, thresholds: [threshold] } as object);
}

/** Returns a service with the troubles of a command, the subjects it was asked about, and its Ctrl-C. */
function serviceFor(command: PlayedCommand, endedCalls: Set<string>) {
  const { team, tickets = [], troubles, interruptedAt } = command;
  const interruption = new AbortController();
  const asked: string[] = [];
  const open = tickets.filter(({ subject }) => !endedCalls.has(`${team} ${subject}`)).length;
  const transport: Transport = {
    name: "gateway",
    async send({ state }: EvaluationRequest) {
      const { subject } = state as unknown as Ticket;
      asked.push(subject);
      const isInterrupted = asked.length === interruptedAt && interruptedAt < open;
      if (isInterrupted) interruption.abort(new Error("Ctrl-C"));
      await new Promise(setImmediate);
      const trouble = troubles.get(subject);
      // A refused call is not made again either.
      if (trouble === undefined || trouble === "refused") endedCalls.add(`${team} ${subject}`);
      failIn(trouble, subject);
      const { providerMetadata, ...response } = sampleResponse({ importance: subject.length % 6 });
      const scam = { type: "boolean", probability: subject.length % 2 === 0 ? 0.3 : 0.02 };
      const gateway = { marketCost: "0.001" };
      return {
        response: {
          ...response,
          answers: { ...response.answers, scam },
          providerMetadata: { ...providerMetadata, gateway },
        },
        modelId: "typesafe-ai/jev",
        requestId: null,
        raw: null,
      };
    },
  };
  return { transport, asked, signal: interruption.signal };
}

function failIn(trouble: Trouble | undefined, subject: string): void {
  if (trouble === "wrong key") throw new AuthenticationError("The key is wrong.", details);
  if (trouble === "refused") throw statusError(400);
  if (trouble === "failed") throw statusError(404, `No answer about ${subject}.`);
}

/**
 * Returns what a command prints over each store. Runs have numbers that others join in a database alone, its
 * totals are those of all machines, and its estimate counts average records.
 */
function toCommon(stderr: string): string {
  return stderr
    .replaceAll(/^(?:To ask|Loaded as run|Joined run|Answered|Run \d+ (?:answered|of)).*\n/gm, "")
    .replaceAll(/^This role owns the journal.*\n/gm, "")
    .replaceAll(/(?<=since the run of )[\d-]+/g, "a day")
    .replaceAll(/(?<=\(see "error"\); ).*/g, "and what is next");
}
