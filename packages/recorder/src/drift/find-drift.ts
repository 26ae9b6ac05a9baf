import { type Exchange, pathText } from "evaluator-exchanges";
import { contractBreaches } from "../contract-breaches.ts";
import type { LiveCall } from "../live/choose-calls.ts";
import { compareShapes } from "../shape.ts";

/**
 * Returns where a live answer has another shape than an exchange's, and where it breaks the
 * contract, one line each, such as `new      response.body.usage.cachedTokens (number)`. Holds no value.
 */
export async function findDrift(
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

/** Findings of several exchanges, each printed once. */
interface DriftReport {
  add(name: string, lines: readonly string[]): void;
  /** Every finding and the exchanges it was seen in; empty when there is none. */
  text(): string;
}

/** Opens a report. */
export function openDriftReport(): DriftReport {
  const names = new Map<string, string[]>();
  return {
    add(name, lines) {
      for (const line of new Set(lines)) names.set(line, [...(names.get(line) ?? []), name]);
    },
    text: () => [...names].map(([line, names]) => `${line}\n         ${listing(names)}\n`).join(""),
  };
}

function listing(names: readonly string[]): string {
  const others = names.length - 1;
  return `in ${names[0]}${others === 0 ? "" : ` and ${others} more`}`;
}
