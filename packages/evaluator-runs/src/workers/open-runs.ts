import { hash } from "node:crypto";
import { CliError, type Environment, type TextSink } from "evaluator-kit";
import type { Pacer, RateLimits } from "evaluator-client";
import type { PostgresRuns } from "../postgres/index.ts";
import type { OpenRuns, RunsOptions, Service } from "../service.ts";

/** Opens the runs of a database; the library for it is loaded only here. */
export const openRuns: OpenRuns = async (url, options) => {
  const { postgresRuns } = await import("../postgres/index.ts");
  return await postgresRuns(url, { ...options, onlyReads: !options.supervises });
};

/**
 * Opens the runs of a database for as long as something is done with them.
 *
 * @throws CliError that says what is wrong with the database, without its URL.
 */
export async function withRuns<TResult>(
  { url, open, ...options }: RunsOptions & { readonly url: string; readonly open: OpenRuns },
  use: (runs: PostgresRuns) => Promise<TResult>,
): Promise<TResult> {
  try {
    await using runs = await open(url, options);
    return await use(runs);
  } catch (error) {
    throw toCliError(error);
  }
}

function toCliError(error: unknown): unknown {
  // By its name: the class is in the library that a journal in a file does not load.
  if (!(error instanceof Error) || error.name !== "DatabaseError") return error;
  const { failure } = error as Error & { failure?: string };
  if (failure === "no-run") {
    return new CliError(`${error.message} triage status names all.`, { cause: error });
  }
  return new CliError(
    `The journal in PostgreSQL cannot be used: ${error.message}\nEvery answer that was kept is still there.`,
    { cause: error },
  );
}

/** What a limit is shared by. */
export interface SharedLimit {
  readonly url: string;
  readonly limits: RateLimits;
  readonly service: Service;
  readonly env: Environment;
  readonly stderr: TextSink;
}

/** Returns a pacer that shares the key's limit with every worker of the database. */
export async function openPacer({
  url,
  limits,
  service,
  env,
  stderr,
}: SharedLimit): Promise<Pacer & AsyncDisposable> {
  const { keyFromEnvironment, sharedPacer } = await import("evaluator-client");
  const { postgresLimits } = await import("../postgres/index.ts");
  const store = await postgresLimits(url);
  // Of the key and of who is asked with it; the database sees a hash of this hash.
  const key = hash("sha256", JSON.stringify([keyFromEnvironment(env) ?? "", service.address]));
  const onStoreChange = (isDown: boolean) =>
    stderr.write(
      isDown
        ? "The shared limit cannot be reached; going on with this machine's part of it.\n"
        : "The shared limit is reached again.\n",
    );
  const pacer = sharedPacer({ store, key, limits, onStoreChange });
  const close = async () => {
    await pacer[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  };
  return {
    countsTokens: pacer.countsTokens,
    admitNow: (tokens) => pacer.admitNow(tokens),
    admit: (call) => pacer.admit(call),
    [Symbol.asyncDispose]: close,
  };
}
