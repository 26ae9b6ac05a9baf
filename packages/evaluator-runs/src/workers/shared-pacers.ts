import { hash } from "node:crypto";
import type { Pacer, RateLimits, Transport } from "evaluator-client";
import { listLimits } from "../limits.ts";
import { evaluatorRuntime } from "../machine.ts";
import type { AskedEngines } from "../run/ask-engines.ts";
import { type ProgramContext, toService } from "../service.ts";

interface PacerSetting {
  readonly url: string;
  readonly asking: Parameters<typeof listLimits>[0];
  readonly context: AskedEngines &
    Pick<ProgramContext, "env" | "stderr" | "openLimits" | "clock" | "random" | "newId">;
}

/** Opens for both engines a pacer that shares its limit with every worker of the database; null without a limit. */
export async function openPacers({ url, asking, context }: PacerSetting) {
  const { transport, next, env, stderr } = context;
  const limits = [
    listLimits(asking, transport),
    next ? listLimits({}, next.transport) : {},
  ] as const;
  if (!limits.some(hasLimits)) return null;
  const { keyFromEnvironment, sharedPacer } = await import("evaluator-client");
  const open = context.openLimits ?? (await import("../postgres/index.ts")).postgresLimits;
  const store = await open(url);
  // A hash of the key and the address; the database sees a hash of this hash.
  const toKey = (engine: Transport) =>
    hash("sha256", JSON.stringify([keyFromEnvironment(env) ?? "", toService(engine).address]));
  const onStoreChange = (isDown: boolean) =>
    stderr.write(
      isDown
        ? "The shared limit cannot be reached; going on with this machine's part.\n"
        : "The shared limit is reached again.\n",
    );
  const findPacer = (engine: Transport, own: RateLimits): (Pacer & AsyncDisposable) | null => {
    const options = { store, key: toKey(engine), limits: own, onStoreChange };
    return hasLimits(own) ? sharedPacer(options, evaluatorRuntime(context)) : null;
  };
  const pacers = [
    findPacer(transport, limits[0]),
    next ? findPacer(next.transport, limits[1]) : null,
  ] as const;
  return {
    pacers,
    async [Symbol.asyncDispose]() {
      for (const pacer of pacers) await pacer?.[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

function hasLimits({ requestsPerMinute, tokensPerSecond }: RateLimits): boolean {
  return (requestsPerMinute ?? tokensPerSecond) !== undefined;
}
