import { hash } from "node:crypto";
import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { keepNewest } from "../keep-newest.ts";
import type { Conversation, Part } from "./conversation.ts";
import { parsedOrText } from "./to-call-options.ts";

/** A provider's proof of a part of a reply. */
export interface Signature {
  /** For the client: opaque, unchanged. */
  readonly value: string;
  /** All of the provider's values for the part. */
  readonly metadata: SharedV4ProviderMetadata;
}

/** A part of a reply that a provider signed. */
export interface SignedPart {
  readonly type: "text" | "reasoning" | "toolCall";
  /** A tool call's; empty otherwise. */
  readonly id: string;
  /** The text, or the arguments. */
  readonly text: string;
  readonly signature: Signature;
}

/** Chosen: a turn of an agent is over by then. */
const KEPT_MS = 60 * 60 * 1000;
const MAX_KEPT = 10_000;

/**
 * Creates a memory for clients whose API has no field for a signature. A tool call is found by its
 * id and arguments, since services use ids again; reasoning by its signature or its text.
 */
export function createSignatureMemory({ now = Date.now }: { readonly now?: () => number } = {}) {
  const keptSignatures = new Map<string, Signature & { model: string; atMs: number }>();
  const setNewest = keepNewest(keptSignatures, MAX_KEPT);
  const restorePart = (part: Part, model: string): Part[] => {
    if (part.type !== "toolCall" && part.type !== "reasoning") return [part];
    const [foundEntry] = listKeys(part).flatMap((key) => keptSignatures.get(key) ?? []);
    if (foundEntry === undefined || foundEntry.atMs + KEPT_MS < now()) return [part];
    if (foundEntry.model !== model) return part.type === "reasoning" ? [] : [part];
    const providerOptions = mergeMetadata(part.providerOptions, foundEntry.metadata);
    return [{ ...part, signature: part.signature ?? foundEntry.value, providerOptions }];
  };
  return {
    keep: ({ signature, ...part }: SignedPart, model: string): void => {
      const partWithSignature = {
        ...part,
        name: "",
        arguments: part.text,
        signature: signature.value,
      };
      for (const signatureKey of listKeys(partWithSignature))
        setNewest(signatureKey, { ...signature, model, atMs: now() });
    },
    /** Adds the signatures that parts lack, and drops the reasoning of other models. */
    restore: (conversation: Conversation, model: string): Conversation => {
      if (keptSignatures.size === 0) return conversation;
      const messages = conversation.messages.map((message) => ({
        ...message,
        parts: message.parts.flatMap((messagePart) => restorePart(messagePart, model)),
      }));
      return { ...conversation, messages };
    },
  };
}

/** Hashes: a signature has up to some hundred kilobytes. */
function listKeys(part: Part): string[] {
  // Clients parse arguments and write them again.
  if (part.type === "toolCall") return [toKey("call", part.id, parsedOrText(part.arguments))];
  if (part.type !== "reasoning") return [];
  const { signature, text } = part;
  return [
    ...(signature === null ? [] : [toKey("signature", signature)]),
    ...(text === "" ? [] : [toKey("reasoning", text)]),
  ];
}

function toKey(...keyValues: unknown[]): string {
  return hash("sha256", JSON.stringify(keyValues), "base64");
}

/** Returns the values of both for each provider; a later one replaces an earlier one. */
export function mergeMetadata(
  earlier: SharedV4ProviderMetadata = {},
  later: SharedV4ProviderMetadata = {},
): SharedV4ProviderMetadata {
  const names = Object.keys({ ...earlier, ...later });
  return Object.fromEntries(names.map((name) => [name, { ...earlier[name], ...later[name] }]));
}
