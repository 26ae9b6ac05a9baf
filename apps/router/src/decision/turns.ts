import { hash } from "node:crypto";
import { estimateTextTokens } from "evaluator-client";
import { costOf, type TokenUsage } from "../reply/usage.ts";
import type { Decision } from "./decision.ts";
import { tierNames } from "./tier-question.ts";

interface Turn {
  decision: Promise<Decision>;
  usage: TokenUsage | null;
  usedAt: number;
}

/** The turn before, if its reply is known. */
interface EarlierTurn {
  readonly decision: Decision;
  readonly usage: TokenUsage;
}

/** The most remembered turns; the one that was used longest ago is forgotten. Chosen: a day of a team. */
const MOST_TURNS = 10_000;

/** As long as providers keep a cache, and longer than a tool loop pauses. Chosen. */
const KEPT_MS = 3_600_000;

/** Remembers the decision of each user's turn, so that all steps of a tool loop use one model. */
export function createTurns(now: () => number = Date.now) {
  const turns = new Map<string, Turn>();
  const find = (key: string) => {
    const turn = turns.get(key);
    return turn !== undefined && now() - turn.usedAt < KEPT_MS ? turn : null;
  };
  const set = (key: string, turn: Omit<Turn, "usedAt">) => {
    turns.delete(key);
    turns.set(key, { ...turn, usedAt: now() });
    const [oldest] = turns.keys();
    if (turns.size > MOST_TURNS && oldest !== undefined) turns.delete(oldest);
  };
  /** Returns the turn of the user's texts so far. */
  return (caller: string, texts: readonly string[]) => {
    const key = keyOf(caller, texts);
    return {
      /** Decides once; simultaneous first steps share the decision, unless it fails. */
      async decide(decideNew: (before: EarlierTurn | null) => Promise<Decision>) {
        for (let turn = find(key); turn !== null; turn = find(key)) {
          const known = await turn.decision.catch(() => null);
          if (known === null) continue; // a failed decision is forgotten
          set(key, turn);
          return { decision: known, isKept: true };
        }
        const decision = earlierOf(find(keyOf(caller, texts.slice(0, -1)))).then(decideNew);
        set(key, { decision, usage: null });
        decision.catch(() => turns.delete(key));
        return { decision: await decision, isKept: false };
      },
      /** Keeps the model that replied, and its tokens. */
      keep: (decision: Decision, usage: TokenUsage | null): void =>
        set(key, { decision: Promise.resolve(decision), usage: usage ?? find(key)?.usage ?? null }),
    };
  };
}

async function earlierOf(turn: Turn | null): Promise<EarlierTurn | null> {
  const decision = await turn?.decision.catch(() => null);
  return decision && turn?.usage ? { decision, usage: turn.usage } : null;
}

// Claude Code ends a text with a line break only if it adds an order to sum up.
function keyOf(caller: string, texts: readonly string[]): string {
  return hash("sha256", JSON.stringify([caller, ...texts.map((text) => text.trim())]), "base64");
}

/** The shortest prompt that OpenAI and others cache. */
const MIN_CACHED_TOKENS = 1024;

/** Whether a cheaper model would cost more in this turn, as its cache is cold. An unknown price is no saving. */
export function staysWarm({ decision, usage }: EarlierTurn, next: Decision, newText: string) {
  const [from, to] = [decision, next].map(
    ({ tierUsed }) => tierUsed && tierNames.indexOf(tierUsed),
  );
  if (from == null || to == null || to >= from) return false;
  const { input, cacheRead, cacheWrite, output } = usage;
  const [fresh, read, written] = [input ?? 0, cacheRead ?? 0, cacheWrite ?? 0];
  // A service that counts reads alone caches each longer prompt by itself.
  const isAutomatic = cacheRead !== null && cacheWrite === null && fresh >= MIN_CACHED_TOKENS;
  const isCached = read > 0 || isAutomatic; // a cache that was read has it all by now
  const warm = isCached ? fresh + read + written : written;
  if (warm === 0) return false;
  const cold = fresh + read + written - warm + estimateTextTokens(newText);
  const counts = { output, reasoning: null };
  const stay = { ...counts, input: cold, cacheRead: warm, cacheWrite: 0 };
  const leave = { ...counts, input: cold, cacheRead: 0, cacheWrite: warm };
  const staying = costOf(stay, decision.prices.model);
  const leaving = costOf(leave, next.prices.model);
  return staying === null || leaving === null || leaving >= staying;
}
