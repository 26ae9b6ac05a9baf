import { parseWords, type ProgramOptions } from "evaluator-kit";
import { type Exchange, pathText } from "evaluator-client/testing";
import { contractBreaches } from "../contract-breaches.ts";
import { askEach, readAnswer } from "../live/ask.ts";
import { chooseCalls, type LiveCall } from "../live/choose-calls.ts";
import type { LiveContext } from "../live/live-context.ts";
import { readLiveServices } from "../live/live-services.ts";
import { compareShapes } from "../shape.ts";

/** Runs the comparison as typed; the exit code is as its usage says. */
export async function runDrift(words: readonly string[], context: LiveContext): Promise<number> {
  const { positionals: names } = parseWords(words, {});
  const { env, stdout, stderr, exchangesFolder } = context;
  const services = readLiveServices(env);
  const calls = chooseCalls(names, { services, exchangesFolder });
  const keys = Object.values(services).flatMap((service) => service?.apiKey ?? []);
  const report = openDriftReport();
  const failures = await askEach(
    calls,
    async (call) => {
      const live = await readAnswer(call, { ...context, keys });
      report.add(call.exchange.name, await findDrift(call, live));
    },
    (name, reason) => stderr.write(`${name}: not compared: ${reason}\n`),
  );
  const drift = report.text();
  const compared = `Compared ${calls.length - failures} of ${calls.length}`;
  stdout.write(`${drift}${compared}: ${drift === "" ? "no drift" : "the shape has drifted"}\n`);
  if (drift !== "") return 1;
  return failures === 0 ? 0 : 2;
}

const usage = `Usage: npm run drift -- [NAME...]

  NAME    an exchange such as gateway/greeting-routes-to-nano; without any, every successful
          evaluation through each transport that has a key
  --help  print this

Asks a real service, which costs money, and compares the shape of its answers (keys and types, not
values) with the exchanges and the contract. Writes nothing. Gateway: AI_GATEWAY_API_KEY and
EVALUATOR_BASE_URL; direct: EVALUATOR_DIRECT_API_KEY and EVALUATOR_DIRECT_BASE_URL. Exit code:
0 no drift, 1 drift, 2 not run or not all answers could be compared, 1 mistyped,
130 interrupted.
`;

/** What the program is called and how it is typed. */
export const driftProgramOptions: ProgramOptions = {
  name: "The comparison",
  help: { command: "npm run drift --", usage },
};

/**
 * Returns where a live answer has another shape than an exchange's, and where it breaks the
 * contract, one line each, such as `new      response.body.usage.cachedTokens (number)`. Holds no value.
 */
async function findDrift(
  { exchange, samples }: Pick<LiveCall, "exchange" | "samples">,
  live: Exchange["response"],
): Promise<string[]> {
  const known = samples.map(({ response }) => comparable(exchange, response));
  const shape = compareShapes(known, comparable(exchange, live), ["response"]).map(
    ({ kind, path, detail }) => ({ kind, path: pathText(path), detail }),
  );
  const paths = new Set(shape.map(({ path }) => path));
  const breaches = (await contractBreaches(exchange, live.body))
    .map(({ path, problem }) => ({ path: pathText(path), problem }))
    .filter(({ path }) => !paths.has(path));
  return [
    ...shape.map(({ kind, path, detail }) => `${kind.padEnd(8)} ${path} (${detail})`),
    ...breaches.map(({ path, problem }) => `contract ${path}: ${problem}`),
  ];
}

/** Headers the exchange does not list are left out: proxies on the way add their own. */
function comparable({ response }: Exchange, { headers, body }: Exchange["response"]) {
  const listed = Object.entries(headers).filter(([name]) => Object.hasOwn(response.headers, name));
  return { headers: Object.fromEntries(listed), body };
}

/** Opens a report of what was found in several exchanges, each finding printed once. */
function openDriftReport() {
  const names = new Map<string, string[]>();
  return {
    add(name: string, lines: readonly string[]) {
      for (const line of new Set(lines)) names.set(line, [...(names.get(line) ?? []), name]);
    },
    /** Every finding and the exchanges it was seen in; empty when there is none. */
    text: () => [...names].map(([line, names]) => `${line}\n         ${listing(names)}\n`).join(""),
  };
}

function listing(names: readonly string[]): string {
  const others = names.length - 1;
  return `in ${names[0]}${others === 0 ? "" : ` and ${others} more`}`;
}
