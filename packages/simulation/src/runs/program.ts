import { PassThrough } from "node:stream";
import { gatewayTransport } from "evaluator-client";
import { CliError } from "evaluator-kit";
import type { ProgramContext, RunCommand } from "evaluator-runs/commands";
import { type DiskFaults, PowerLoss } from "../disk/disk-faults.ts";
import { diskFiles } from "../disk/disk-files.ts";
import { openOnDisk } from "../disk/disk-database.ts";
import type { Disk } from "../disk/disk.ts";
import type { Asked } from "../service/answer.ts";
import type { RequestFollower } from "../service/model-service.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { mailSource, RUNS_URL } from "./mail-source.ts";

/** The model that runs ask, and its address. */
export const target: Omit<Asked, "state"> = {
  model: "maker/runs",
  url: "https://gateway.example/v4/ai/evaluation-model",
};

/** The results of a run. */
export const RESULTS = "/simulation/mails.simulated.json";

/** A program of runs, in one of its lives. */
export interface ProgramLife {
  readonly world: World;
  /** The process, such as "worker 2". */
  readonly name: string;
  readonly clock: ProcessClock;
  readonly disk: Disk;
  readonly faults: DiskFaults;
  /** The number of its mails. */
  readonly mails: number;
  readonly openRuns: ProgramContext["openRuns"];
  readonly openLimits: NonNullable<ProgramContext["openLimits"]>;
  readonly followers: readonly RequestFollower[];
  /** Whether it shares its runs with other processes. */
  readonly isShared: boolean;
}

/** Returns the context of a program; all that it prints is looked through. */
export function programContext(life: ProgramLife): ProgramContext {
  const { world, name, clock, disk, faults } = life;
  const { apiKey, secrets, service, newId } = world;
  const print = (text: string) => secrets.check("a line of a program", text);
  const follower = followAll(life.followers);
  const caller = { name, clock, apiKey, follower };
  const fetch = service.connect(caller);
  const baseUrl = target.url.replace("/evaluation-model", "");
  const gateway = gatewayTransport({ apiKey, baseUrl, modelId: target.model, fetch, env: {} });
  // All requests of a call are about the same object.
  const calls = new WeakSet<object>();
  const send: typeof gateway.send = (request, attempt) => {
    const { mail } = request.state as { readonly mail: number };
    if (!calls.has(request)) follower.asks?.(caller, mail);
    calls.add(request);
    return gateway.send(request, attempt);
  };
  const transport = { ...gateway, send };
  return {
    env: { SIMULATION_JOURNAL: life.isShared ? RUNS_URL : undefined },
    cwd: "/simulation",
    stdin: new PassThrough(),
    stdout: { write: print },
    stderr: { write: print },
    signal: new AbortController().signal,
    clock,
    exitCode: 0,
    confirm: null,
    random: world.random(`${name} at ${clock.time.nowMs}`).next,
    newId,
    defer: (callback) => clock.schedule(0, callback),
    files: diskFiles(disk, faults, clock),
    openDatabase: openOnDisk({ disk, faults, clock }),
    openRuns: life.openRuns,
    openLimits: life.openLimits,
    source: mailSource(life.mails),
    openTransport: async () => transport,
    openCatalog: async () => null,
  };
}

function followAll(followers: readonly RequestFollower[]): RequestFollower {
  return {
    asks: (...call) => followers.forEach((each) => each.asks?.(...call)),
    sent: (...request) => followers.forEach((each) => each.sent?.(...request)),
    arrived: (...request) => followers.forEach((each) => each.arrived?.(...request)),
    lost: (body) => followers.forEach((each) => each.lost?.(body)),
    refused: (...request) => followers.forEach((each) => each.refused?.(...request)),
    ended: (...request) => followers.forEach((each) => each.ended?.(...request)),
  };
}

/** Returns the words of `run` as the command parses them. */
export function runCommand(options: Partial<RunCommand>): RunCommand {
  return {
    file: "mails.json",
    state: {},
    limit: Number.POSITIVE_INFINITY,
    maxCost: Number.POSITIVE_INFINITY,
    concurrency: 1,
    format: "json",
    yes: true,
    ...options,
  };
}

/**
 * Starts a command again, as a person does, until it ends with its results.
 *
 * @param start - Returns the exit code.
 * @param isEnd - Whether nothing more is to be done after that exit code or error.
 */
export async function untilDone(
  { world, clock, name }: Pick<ProgramLife, "world" | "clock" | "name">,
  start: () => Promise<number>,
  isEnd: (end: number | CliError) => boolean,
): Promise<void> {
  const random = world.random(`${name} again at ${clock.time.nowMs}`);
  for (;;) {
    const end = await start().catch((error: unknown) => toEnd(error, clock));
    if (clock.isDead) return await new Promise(() => {});
    const what = typeof end === "number" ? `exit code ${end}` : end.message;
    world.trace.add(clock.time.nowMs, name, "ends with", what);
    world.secrets.check("an error of a program", what);
    if (isEnd(end)) return;
    await clock.wait(random.magnitude(500, 5000));
  }
}

/** An error for people is an end; the power loss of the machine is none; any other is a defect. */
function toEnd(error: unknown, { isDead }: ProcessClock): CliError | Promise<never> {
  if (isDead || error instanceof PowerLoss) return new Promise(() => {});
  if (error instanceof CliError) return error;
  throw error;
}
