import type { Conversation } from "../conversation/conversation.ts";
import { generateReply, type ReplyOptions } from "../reply/generate-reply.ts";
import { redactor } from "../reply/redactor.ts";
import type { ReplyPiece } from "../reply/reply-piece.ts";
import type { ReplyPlan, Target, Upstream } from "../reply/upstream.ts";
import { plantedKey } from "./keep-output.ts";
import { gatewayUpstream } from "./upstreams.ts";

/** A conversation of one word. */
export const hello: Conversation = {
  messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
  tools: [],
  toolChoice: null,
  format: null,
  settings: {},
  providerOptions: {},
};

/** Returns a target at a gateway whose HTTP is the given `fetch`. */
export function gatewayTarget(fetch: typeof globalThis.fetch, model = "a/b"): Target {
  return targetAt(
    gatewayUpstream({ apiKey: plantedKey, baseUrl: "http://gateway.invalid", fetch }),
    model,
  );
}

/** Returns a target without a price. */
export function targetAt(upstream: Upstream, model = "a/b"): Target {
  return { upstream, model, price: null };
}

interface CallOptions extends Partial<Omit<ReplyOptions, "plan">> {
  readonly plan?: Partial<ReplyPlan>;
  readonly conversation?: Conversation;
}

/** Asks for a reply, and keeps its pieces and bytes. */
export function callFor(targets: ReplyPlan["targets"], options: CallOptions = {}) {
  const { plan, conversation = hello, ...rest } = options;
  const pieces: ReplyPiece[] = [];
  const bytes: string[] = [];
  const meter = { written: 0, reported: null };
  const reply = generateReply(conversation, {
    plan: { targets, maxRetries: 0, idleTimeoutMs: 0, timeoutMs: 0, ...plan },
    listener(part) {
      if (typeof part === "string") bytes.push(part);
      else pieces.push(...part);
    },
    signal: new AbortController().signal,
    redact: redactor([plantedKey]),
    meter,
    passed: null,
    ...rest,
  });
  return { reply, pieces, bytes, meter };
}

/** Returns the joined text of each block, in order of their beginnings. */
export function blocksOf(pieces: readonly ReplyPiece[]): string[] {
  const blocks = new Map<string, string>();
  for (const { key, text } of pieces) blocks.set(key, (blocks.get(key) ?? "") + text);
  return [...blocks.values()];
}
