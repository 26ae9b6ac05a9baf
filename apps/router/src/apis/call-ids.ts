import { hash } from "node:crypto";
import type { Conversation, Part } from "../conversation/conversation.ts";
import { type UpstreamType, upstreamTypes } from "../conversation/upstream-types.ts";

/** New ids for the calls and results of a history, in their order. */
export interface CallIds {
  readonly ofCall: (callId: string) => string;
  readonly ofResult: (callId: string) => string;
  /** Called for a part of a message that is neither. */
  readonly pass?: (role: unknown) => void;
}

/** Returns a conversation with ids that a service takes. */
export function withCallIds(conversation: Conversation, upstreamType: UpstreamType): Conversation {
  const serviceIds = new ServiceIds(upstreamType);
  const toPart = (part: Part): Part => {
    if (part.type === "toolCall") return { ...part, id: serviceIds.ofCall(part.id) };
    return part.type === "toolResult" ? { ...part, id: serviceIds.ofResult(part.id) } : part;
  };
  const toMessages = conversation.messages.map(({ role, parts }) => ({
    role,
    parts: parts.map(toPart),
  }));
  return { ...conversation, messages: toMessages };
}

interface OpenCall {
  readonly name: string;
  isOpen: boolean;
}

/** Gives each call of a step its own id. Results of equal ids, or without one, are paired with the calls in order. */
export class StepIds implements CallIds {
  readonly #useCounts = new Map<string, number>();
  #isOver = false;
  #allCalls = new Queue();
  #byId = new Map<string, Queue>();

  ofCall(callId: string): string {
    if (this.#isOver) [this.#isOver, this.#allCalls, this.#byId] = [false, new Queue(), new Map()];
    const idQueue = this.#byId.get(callId) ?? new Queue();
    const useCount = countUse(this.#useCounts, callId);
    const name = callId === "" || idQueue.length > 0 ? newId(callId, useCount) : callId;
    const openCall = { name, isOpen: true };
    this.#byId.set(callId, idQueue);
    for (const callQueue of [idQueue, this.#allCalls]) callQueue.add(openCall);
    return name;
  }

  ofResult(id: string): string {
    this.#isOver = true;
    const call = this.#byId.get(id)?.first() ?? (id === "" ? this.#allCalls.first() : undefined);
    if (call === undefined) return id;
    call.isOpen = false;
    return call.name;
  }

  pass(role: unknown): void {
    this.#isOver ||= typeof role === "string" && role !== "assistant";
  }
}

class Queue {
  readonly #openCalls: OpenCall[] = [];
  #nextIndex = 0;

  get length(): number {
    return this.#openCalls.length;
  }

  add(openCall: OpenCall): void {
    this.#openCalls.push(openCall);
  }

  first(): OpenCall | undefined {
    while (this.#openCalls[this.#nextIndex]?.isOpen === false) this.#nextIndex += 1;
    return this.#openCalls[this.#nextIndex];
  }
}

/** Replaces ids that a service refuses: the same id in each request, and another one for each call. */
export class ServiceIds implements CallIds {
  readonly #idRules: (typeof upstreamTypes)[UpstreamType]["callIds"];
  readonly #useCounts = new Map<string, number>();
  readonly #sentIds = new Map<string, string>();

  constructor(upstreamType: UpstreamType) {
    this.#idRules = upstreamTypes[upstreamType].callIds;
  }

  ofCall(callId: string): string {
    const useCount = countUse(this.#useCounts, callId);
    const isAgain = this.#idRules.areUnique && useCount > 0;
    const uniqueId = isAgain ? newId(callId, useCount) : this.ofResult(callId);
    this.#sentIds.set(callId, uniqueId);
    return uniqueId;
  }

  ofResult(id: string): string {
    return this.#sentIds.get(id) ?? (this.#idRules.form.test(id) ? id : newId(id, 0));
  }
}

/** Returns an id that each service takes, from the hash of another one and its earlier uses. */
function newId(callId: string, useCount: number): string {
  return `call_${hash("sha256", JSON.stringify([callId, useCount]), "base64url").slice(0, 24)}`;
}

function countUse(useCounts: Map<string, number>, callId: string): number {
  const useCount = useCounts.get(callId) ?? 0;
  useCounts.set(callId, useCount + 1);
  return useCount;
}
