import { type Call, readText } from "../call.ts";
import { createDraws } from "../seeded.ts";
import { type Fault, isAnswerFault, isTrapFault, type Latency } from "./fault.ts";

/** What is to go wrong with one call. */
export interface PickedFaults {
  readonly latencyMs: number;
  readonly fault: Exclude<Fault, Latency> | null;
}

/** The faults in force. */
export type FaultBook = ReturnType<typeof createFaultBook>;

interface Entry {
  readonly fault: Fault;
  readonly draw: (text: string) => number;
  readonly drawJitter: (text: string) => number;
  left: number;
}

/**
 * Makes the book of the faults in force.
 *
 * @param seed - Decides which calls a fault with a rate holds for.
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
  const reset = () => {
    entries = [];
    add(initial);
  };
  reset();
  return {
    add,
    /** Back to the faults it was made with, none of them used. */
    reset,
    clear() {
      entries = [];
    },
    /** Each fault and how many calls it still holds for; null means all. */
    list: () =>
      entries.map(({ fault, left }) => ({ ...fault, left: Number.isFinite(left) ? left : null })),
    /** The latencies a call meets, summed, and the first other fault, each of which is then used. */
    async pick(call: Call) {
      const open = entries.filter(
        (entry) => entry.left > 0 && matchesCall(entry.fault, call.req.path),
      );
      const text = open.some(({ fault }) => isByChance(fault)) ? await textOf(call) : "";
      return use(open, text);
    },
  };
}

function use(open: readonly Entry[], text: string): PickedFaults {
  let latencyMs = 0;
  let picked: PickedFaults["fault"] = null;
  for (const entry of open) {
    const { fault } = entry;
    const isSpare = fault.kind !== "latency" && picked !== null;
    if (isSpare || entry.left === 0 || !isDrawn(entry, text)) continue;
    entry.left -= 1;
    if (fault.kind === "latency") latencyMs += fault.latencyMs + jitterOf(entry, fault, text);
    else picked = fault;
  }
  return { latencyMs, fault: picked };
}

function isByChance(fault: Fault): boolean {
  return fault.rate !== undefined || (fault.kind === "latency" && fault.jitterMs !== undefined);
}

function jitterOf({ drawJitter }: Entry, { jitterMs = 0 }: Latency, text: string): number {
  return jitterMs === 0 ? 0 : Math.floor(drawJitter(text) * (jitterMs + 1));
}

function isDrawn({ fault, draw }: Entry, text: string): boolean {
  return fault.rate === undefined || draw(text) < fault.rate;
}

/** Returns the text of a request by which faults are drawn; never its key. */
async function textOf(call: Call): Promise<string> {
  const { method, path } = call.req;
  const body = await readText(call).catch(() => "");
  return `${method} ${path}\n${body}`;
}

const logprobPaths = new Set(["/v1/chat/completions", "/completion", "/generate"]);
const evaluationPattern = /\/(?:evaluation-model|decision-model|systemone)$/;

/** Returns whether a fault is meant for calls to this path. */
function matchesCall(fault: Fault, path: string): boolean {
  if (isAnswerFault(fault) && !evaluationPattern.test(path)) return false;
  if (isTrapFault(fault) && !logprobPaths.has(path)) return false;
  if (fault.path === undefined) return true;
  return fault.path.endsWith("*") ? path.startsWith(fault.path.slice(0, -1)) : path === fault.path;
}
