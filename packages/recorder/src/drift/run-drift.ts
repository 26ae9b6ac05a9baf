import { parseWords, type ProgramOptions } from "evaluator-cli-kit";
import { askEach, readAnswer } from "../live/ask.ts";
import { chooseCalls } from "../live/choose-calls.ts";
import type { LiveContext } from "../live/live-context.ts";
import { readLiveServices } from "../live/live-services.ts";
import { findDrift, openDriftReport } from "./find-drift.ts";

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
0 no drift, 1 drift, 2 not run or not all answers could be compared, 64 mistyped,
130 interrupted.
`;

/** What the program is called and how it is typed. */
export const driftProgramOptions: ProgramOptions = {
  name: "The comparison",
  help: { command: "npm run drift --", usage },
};
