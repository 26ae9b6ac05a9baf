import { mkdir, mkdtemp, readFile, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseWords, systemErrorCode, UsageError } from "evaluator-kit";
import { z } from "zod";
import { askEach } from "../live/ask.ts";
import { chooseCalls } from "../live/choose-calls.ts";
import { type LiveContext, NotRunError } from "../live/live-context.ts";
import { readLiveServices } from "../live/live-services.ts";
import { recordCall, recordingPath } from "./record-call.ts";

/** Runs the recorder as typed; the exit code is as its usage says. */
export async function runRecorder(words: readonly string[], context: LiveContext): Promise<number> {
  const { names, out, replace } = readArguments(words);
  const { env, cwd, stdout, stderr, exchangesFolder } = context;
  if (env["CI"]) throw new NotRunError("Nothing is recorded in CI: a person has to look at it.");
  const services = readLiveServices(env);
  const calls = chooseCalls(names, { services, exchangesFolder });
  const folder = out === null ? exchangesFolder : resolve(cwd, out);
  const paths = calls.map(({ exchange }) => recordingPath(folder, exchange.name));
  await checkTargets(paths, { replace });

  const keys = Object.values(services).flatMap((service) => service?.apiKey ?? []);
  const options = { ...context, folder, keys };
  const failures = await askEach(
    calls,
    async (call) => void stdout.write(`${await recordCall(call, options)}\n`),
    (name, reason) => stderr.write(`${name}: not recorded: ${reason}\n`),
  );
  stdout.write(`Recorded ${calls.length - failures} of ${calls.length} in ${folder}\n`);
  return failures === 0 ? 0 : 1;
}

function readArguments(words: readonly string[]) {
  const { values, positionals } = parseWords(words, {
    /** The folder to write under, as typed, or null. */
    out: { type: "string" },
    /** Whether exchanges written from the contract may be replaced. */
    replace: { type: "boolean", default: false },
  });
  const { out, replace } = values;
  if (out === "") throw new UsageError("--out takes a folder.");
  return { names: positionals, out: out ?? null, replace };
}

const recordingSchema = z.object({ provenance: z.object({ source: z.literal("live") }) });

/**
 * Makes sure, before anything is paid for, that recordings can be written, and replace nothing but
 * older recordings unless told to.
 *
 * @throws {NotRunError} when they cannot, or would.
 */
async function checkTargets(
  paths: readonly string[],
  { replace }: { replace: boolean },
): Promise<void> {
  const written = await Promise.all(paths.map(async (path) => !(await isReplaceable(path))));
  const count = written.filter(Boolean).length;
  if (count > 0 && !replace) {
    throw new NotRunError(
      `Files that nobody recorded would be replaced (${count} of ${paths.length}): --replace does it, --out DIR writes elsewhere.`,
    );
  }
  for (const folder of new Set(paths.map((path) => dirname(path)))) await checkWritable(folder);
}

async function isReplaceable(path: string): Promise<boolean> {
  try {
    return recordingSchema.safeParse(JSON.parse(await readFile(path, "utf8"))).success;
  } catch (error) {
    return systemErrorCode(error) === "ENOENT";
  }
}

// Asking for permission is not enough on a read-only or full disk, so something is really made.
async function checkWritable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await rmdir(await mkdtemp(join(folder, ".record-")));
  } catch {
    throw new NotRunError(`Nothing can be written in ${folder}.`);
  }
}

/** How the recorder is typed, as `--help` shows it. */
export const usage = `Usage: npm run record -- [NAME...] [--out DIR] [--replace]

  NAME       an exchange such as gateway/greeting-routes-to-nano; without any, every successful
             evaluation through each transport that has a key
  --out DIR  write under DIR in place of fixtures/exchanges
  --replace  replace exchanges that are written from the contract
  --help     print this

Asks a real service, which costs money. Gateway: AI_GATEWAY_API_KEY and EVALUATOR_BASE_URL; direct:
EVALUATOR_DIRECT_API_KEY and EVALUATOR_DIRECT_BASE_URL. Exit code: 0 all recorded, 1 some were not,
2 not run, 130 interrupted.
`;
