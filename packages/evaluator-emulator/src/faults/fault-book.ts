import { type Call, readText } from "../call.ts";
import { createDraws } from "../seeded.ts";
import { type BreakingFault, type Fault, isSpoiler, isTrap } from "./fault.ts";

interface Entry {
  readonly fault: Fault;
  readonly draw: (text: string) => number;
  readonly drawJitter: (text: string) => number;
  left: number;
}

/**
 * Makes the list of active faults.
 *
 * @param seed - Decides which calls a fault with a rate is played on.
 */
export function createFaultBook(initial: readonly Fault[], seed: number) {
  let entries: Entry[] = [];
  const add = (faults: readonly Fault[]) => {
    for (const fault of faults) {
      const draw = createDraws(`${seed}/${entries.length}`);
      const drawJitter = createDraws(`${seed}/${entries.length}/jitter`);
      const left = fault.next ?? Number.POSITIVE_INFINITY;
      entries.push({ fault, draw, drawJitter, left });
    }
  };
  add(initial);
  return {
    add,
    /** Restores the initial faults, none of them used. */
    reset() {
      entries = [];
      add(initial);
    },
    clear() {
      entries = [];
    },
    /** Returns each fault and the number of calls that are left; null is all. */
    list: () =>
      entries.map(({ fault, left }) => ({ ...fault, left: Number.isFinite(left) ? left : null })),
    /** Uses up the faults of a call: the sum of its latencies, and the first other fault. */
    async pick(call: Call) {
      const open = entries.filter(({ fault, left }) => left > 0 && isFor(fault, call.req.path));
      return use(open, open.some(isDrawn) ? await textOf(call) : "");
    },
  };
}

function isDrawn({ fault }: Entry): boolean {
  return fault.rate !== undefined || (fault.kind === "latency" && fault.jitterMs !== undefined);
}

function use(open: readonly Entry[], text: string) {
  let latencyMs = 0;
  let picked: BreakingFault | null = null;
  for (const entry of open) {
    const { fault, draw, drawJitter } = entry;
    const isSpare = fault.kind !== "latency" && picked !== null;
    // Another call may have used the last one while this one was read.
    if (isSpare || entry.left === 0) continue;
    if (fault.rate !== undefined && draw(text) >= fault.rate) continue;
    entry.left -= 1;
    if (fault.kind === "latency") {
      const { jitterMs = 0 } = fault;
      latencyMs += fault.latencyMs;
      if (jitterMs > 0) latencyMs += Math.floor(drawJitter(text) * (jitterMs + 1));
    } else picked = fault;
  }
  return { latencyMs, fault: picked };
}

/** Returns the text of a request by which faults are drawn; never its key. */
async function textOf(call: Call): Promise<string> {
  const { method, path } = call.req;
  const body = await readText(call).catch(() => "");
  return `${method} ${path}\n${body}`;
}

const logprobPaths = new Set(["/v1/chat/completions", "/completion", "/generate"]);
const evaluationPattern = /\/(?:evaluation-model|decision-model|systemone)$/;

function isFor(fault: Fault, path: string): boolean {
  if (isSpoiler(fault.kind) && !evaluationPattern.test(path)) return false;
  if (isTrap(fault.kind) && !logprobPaths.has(path)) return false;
  if (fault.path === undefined) return true;
  return fault.path.endsWith("*") ? path.startsWith(fault.path.slice(0, -1)) : path === fault.path;
}
