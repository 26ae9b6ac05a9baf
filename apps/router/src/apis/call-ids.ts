import { hash } from "node:crypto";
import type { Conversation, Part } from "../conversation/conversation.ts";
import { type UpstreamType, upstreamTypes } from "../conversation/upstream-types.ts";

/** New ids for the calls and results of a history, in their order. */
export interface CallIds {
  readonly ofCall: (id: string) => string;
  readonly ofResult: (id: string) => string;
  /** Called for a part of a message that is neither. */
  readonly pass?: (role: unknown) => void;
}

/** Returns a conversation with ids that a service takes. */
export function withCallIds(conversation: Conversation, type: UpstreamType): Conversation {
  const ids = new ServiceIds(type);
  const toPart = (part: Part): Part => {
    if (part.type === "toolCall") return { ...part, id: ids.ofCall(part.id) };
    return part.type === "toolResult" ? { ...part, id: ids.ofResult(part.id) } : part;
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
  readonly #uses = new Map<string, number>();
  #isOver = false;
  #all = new Queue();
  #byId = new Map<string, Queue>();

  ofCall(id: string): string {
    if (this.#isOver) [this.#isOver, this.#all, this.#byId] = [false, new Queue(), new Map()];
    const queue = this.#byId.get(id) ?? new Queue();
    const count = countUse(this.#uses, id);
    const name = id === "" || queue.length > 0 ? newId(id, count) : id;
    const call = { name, isOpen: true };
    this.#byId.set(id, queue);
    for (const each of [queue, this.#all]) each.add(call);
    return name;
  }

  ofResult(id: string): string {
    this.#isOver = true;
    const call = this.#byId.get(id)?.first() ?? (id === "" ? this.#all.first() : undefined);
    if (call === undefined) return id;
    call.isOpen = false;
    return call.name;
  }

  pass(role: unknown): void {
    this.#isOver ||= typeof role === "string" && role !== "assistant";
  }
}

class Queue {
  readonly #calls: OpenCall[] = [];
  #at = 0;

  get length(): number {
    return this.#calls.length;
  }

  add(call: OpenCall): void {
    this.#calls.push(call);
  }

  first(): OpenCall | undefined {
    while (this.#calls[this.#at]?.isOpen === false) this.#at += 1;
    return this.#calls[this.#at];
  }
}

/** Replaces ids that a service refuses: the same id in each request, and another one for each call. */
export class ServiceIds implements CallIds {
  readonly #service: (typeof upstreamTypes)[UpstreamType]["callIds"];
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();

  constructor(type: UpstreamType) {
    this.#service = upstreamTypes[type].callIds;
  }

  ofCall(id: string): string {
    const count = countUse(this.#uses, id);
    const isAgain = this.#service.areUnique && count > 0;
    const name = isAgain ? newId(id, count) : this.ofResult(id);
    this.#names.set(id, name);
    return name;
  }

  ofResult(id: string): string {
    return this.#names.get(id) ?? (this.#service.form.test(id) ? id : newId(id, 0));
  }
}

/** Returns an id that each service takes, from the hash of another one and its earlier uses. */
function newId(id: string, count: number): string {
  return `call_${hash("sha256", JSON.stringify([id, count]), "base64url").slice(0, 24)}`;
}

function countUse(uses: Map<string, number>, id: string): number {
  const count = uses.get(id) ?? 0;
  uses.set(id, count + 1);
  return count;
}
