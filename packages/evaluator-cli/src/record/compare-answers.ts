import { type Exchange, pathText } from "evaluator-client/testing";
import { contractBreaches } from "./contract-breaches.ts";
import type { LiveCall } from "./live-calls.ts";
import { compareShapes } from "./shape.ts";

/** Opens a comparison of live answers with their exchanges; each difference is printed once. */
export function openComparison() {
  const namesByLine = new Map<string, string[]>();
  return {
    async add(call: LiveCall, answer: Exchange["response"]): Promise<void> {
      for (const line of new Set(await findDifferences(call, answer))) {
        namesByLine.set(line, [...(namesByLine.get(line) ?? []), call.exchange.name]);
      }
    },
    /** Returns every difference with its exchanges; empty if there is none. */
    text: () =>
      Array.from(namesByLine, ([line, [first, ...others]]) => {
        const more = others.length === 0 ? "" : ` and ${others.length} more`;
        return `${line}\n         in ${first}${more}\n`;
      }).join(""),
  };
}

/**
 * Returns where an answer has another shape than its exchange or breaks the contract, such as
 * `new      response.body.usage.cachedTokens (number)`; holds no value.
 */
async function findDifferences(
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

/** Only the headers that the exchange lists: proxies on the way add others. */
function comparable({ response }: Exchange, { headers, body }: Exchange["response"]) {
  const listed = Object.entries(headers).filter(([name]) => Object.hasOwn(response.headers, name));
  return { headers: Object.fromEntries(listed), body };
}
