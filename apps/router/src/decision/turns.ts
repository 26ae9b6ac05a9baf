import { hash } from "node:crypto";
import { estimateTextTokens } from "evaluator-client";
import { type Conversation, type Part, findText } from "../conversation/conversation.ts";
import { toOwnText } from "../conversation/user-turns.ts";
import { keepNewest } from "../keep-newest.ts";
import { findCost, type TokenUsage } from "../reply/usage.ts";
import type { Cause, Decision } from "./decision.ts";
import { tierNames } from "./tier-question.ts";

interface Turn {
  /** The decision of the model that replied last. */
  readonly decision: Promise<Decision>;
  /** The evaluation's choice: null if a failure or a budget replaced it, undefined while it is pending. */
  choice: Decision | null | undefined;
  readonly usage: TokenUsage | null;
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

/** The words of a conversation, turn by turn. */
interface Talk {
  /** The user's own texts, one for each turn. */
  readonly texts: readonly string[];
  /** The texts of the user in each turn, and of the assistant before it. */
  readonly turns: readonly string[];
  /** Whether the last turn has called tools. */
  readonly isLater: boolean;
}

/** Reads the turns of a conversation. Tool results and a program's own texts begin none. */
export function readTalk({ messages }: Pick<Conversation, "messages">): Talk {
  const texts: string[] = [];
  const turns: string[] = [];
  let [assistantText, isLater] = ["", false];
  for (const message of messages) {
    const ownText = message.role === "user" ? toOwnText(message) : "";
    if (ownText !== "") {
      texts.push(ownText);
      // Claude Code ends a text with a line break only if it adds an order to sum up.
      turns.push(JSON.stringify([assistantText, ownText.trim()]));
      [assistantText, isLater] = ["", false];
    } else if (message.role !== "system") {
      isLater ||= message.parts.some(({ type }) => type === "toolCall" || type === "toolResult");
      assistantText +=
        message.role === "assistant" ? findText(message.parts.filter(isText)).trim() : "";
    }
  }
  return { texts, turns, isLater };
}

const isText = ({ type }: Part): boolean => type === "text";

/** Remembers the decision of each user's turn, so that all steps of a tool loop use one model. */
export function createTurns(now: () => number = Date.now) {
  const rememberedMap = new Map<string, Turn>();
  const setNewest = keepNewest(rememberedMap, MOST_TURNS);
  const findTurn = (turnKey: string) => {
    const turn = rememberedMap.get(turnKey);
    return turn !== undefined && now() - turn.usedAt < KEPT_MS ? turn : null;
  };
  const keepTurn = (turnKey: string, givenTurn: Omit<Turn, "usedAt">): Turn => {
    const turn = { ...givenTurn, usedAt: now() };
    setNewest(turnKey, turn);
    return turn;
  };
  /** Returns the last turn of a conversation. */
  return (caller: string, { turns, isLater }: Pick<Talk, "turns" | "isLater">) => {
    const key = toKey(caller, turns);
    /** The same words may begin another conversation: they take the choice, and no model that replaced it. */
    const loadDecision = async (turn: Turn) => {
      if (isLater || turn.choice === undefined) return turn.decision.catch(() => null);
      return turn.choice;
    };
    return {
      /** Decides once; simultaneous first steps share the decision, unless it fails. */
      async decide(decideNew: (earlierTurn: EarlierTurn | null) => Promise<Decision>) {
        for (let turn = findTurn(key); turn !== null; turn = findTurn(key)) {
          if (!isLater && turn.choice === null) break;
          const decision = await loadDecision(turn);
          if (decision === null) continue; // a failed decision is forgotten
          keepTurn(key, { ...turn, decision: Promise.resolve(decision) });
          return { decision, isKept: true };
        }
        const earlierTurn = turns.length > 1 ? findTurn(toKey(caller, turns.slice(0, -1))) : null;
        const decision = loadEarlier(earlierTurn).then(decideNew);
        const turn = keepTurn(key, { decision, choice: undefined, usage: null });
        const keepChoice = (newDecision: Decision) =>
          void (turn.choice = isChoice(newDecision) ? newDecision : null);
        const forget = () => void (rememberedMap.get(key) === turn && rememberedMap.delete(key));
        void decision.then(keepChoice, forget); // before any other step that waits for it
        return { decision: await decision, isKept: false };
      },
      /** Keeps the model that replied, and its tokens. */
      keep: (decision: Decision, usage: TokenUsage | null): void => {
        const before = findTurn(key);
        const keptTurn = { decision: Promise.resolve(decision), choice: before?.choice ?? null };
        keepTurn(key, { ...keptTurn, usage: usage ?? before?.usage ?? null });
      },
    };
  };
}

const choices: ReadonlySet<Cause> = new Set([
  "choice",
  "low-confidence",
  "fit",
  "warm-cache",
  "key",
]);

/** Whether a decision holds for the same words later: no failure and no budget made it. */
function isChoice({ cause }: Decision): boolean {
  return choices.has(cause);
}

async function loadEarlier(earlierTurn: Turn | null): Promise<EarlierTurn | null> {
  const decision = await earlierTurn?.decision.catch(() => null);
  return decision && earlierTurn?.usage ? { decision, usage: earlierTurn.usage } : null;
}

function toKey(caller: string, turns: readonly string[]): string {
  return hash("sha256", JSON.stringify([caller, ...turns]), "base64");
}

/** The shortest prompt that OpenAI and others cache. */
const MIN_CACHED_TOKENS = 1024;

/** Whether a cheaper model would cost more in this turn, as its cache is cold. An unknown price is no saving. */
export function staysWarm({ decision, usage }: EarlierTurn, next: Decision, newText: string) {
  const [currentRank, nextRank] = [decision, next].map(
    ({ tierUsed }) => tierUsed && tierNames.indexOf(tierUsed),
  );
  if (currentRank == null || nextRank == null || nextRank >= currentRank) return false;
  const { input, cacheRead, cacheWrite, output } = usage;
  const [freshTokens, readTokens, writtenTokens] = [input ?? 0, cacheRead ?? 0, cacheWrite ?? 0];
  // A service that counts reads alone caches each longer prompt by itself.
  const isAutomatic = cacheRead !== null && cacheWrite === null && freshTokens >= MIN_CACHED_TOKENS;
  const isCached = readTokens > 0 || isAutomatic; // a cache that was read has it all by now
  const warmTokens = isCached ? freshTokens + readTokens + writtenTokens : writtenTokens;
  if (warmTokens === 0) return false;
  const cold = freshTokens + readTokens + writtenTokens - warmTokens + estimateTextTokens(newText);
  const sharedCounts = { output, reasoning: null };
  const stayUsage = { ...sharedCounts, input: cold, cacheRead: warmTokens, cacheWrite: 0 };
  const leaveUsage = { ...sharedCounts, input: cold, cacheRead: 0, cacheWrite: warmTokens };
  const stayUsd = findCost(stayUsage, decision.prices.model);
  const leaveUsd = findCost(leaveUsage, next.prices.model);
  return stayUsd === null || leaveUsd === null || leaveUsd >= stayUsd;
}
