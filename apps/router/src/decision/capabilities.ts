import type { CatalogModel } from "evaluator-client";
import { type Conversation, filesOf, givenOf } from "../conversation/conversation.ts";
import { lostSetting } from "../conversation/to-call-options.ts";
import { inputTokensOf } from "../conversation/input-tokens.ts";
import { estimateInput } from "../reply/billed-tokens.ts";
import { type PassedRequest, takesBody } from "../reply/passed-request.ts";
import { type Capabilities, type ReplyPlan, type Target, targetName } from "../reply/upstream.ts";

/** A request with the field that only services of one API take. */
export interface Asked {
  readonly conversation: Conversation;
  readonly passed?:
    | Pick<PassedRequest, "unsupported" | "upstreamType" | "isLocal">
    | null
    | undefined;
}

/** Capabilities of the gateways' models by id. */
export type ListedCapabilities = ReadonlyMap<string, Capabilities>;

/** Returns the capabilities of a model. The configuration overrides the gateway's list. */
export function capabilitiesOf(
  { upstream, model, capabilities }: Target,
  listed: ListedCapabilities,
): Capabilities {
  return { ...(upstream.type === "gateway" && listed.get(model)), ...capabilities };
}

/** Returns the greatest capabilities of several models, since `auto` chooses among them. */
export function bestOf(all: readonly Capabilities[]): Capabilities {
  const most = (name: "contextWindow" | "maxOutputTokens") =>
    all.reduce<number | null>((best, each) => Math.max(best ?? 0, each[name] ?? 0) || null, null);
  const any = (name: "images" | "files" | "tools") =>
    all.every((each) => each[name] === undefined) ? null : all.some((each) => each[name] !== false);
  const efforts = [...new Set(all.flatMap((each) => each.efforts ?? []))];
  return givenOf({
    contextWindow: most("contextWindow"),
    maxOutputTokens: most("maxOutputTokens"),
    images: any("images"),
    files: any("files"),
    tools: any("tools"),
    efforts: efforts.length > 0 ? efforts : null,
  });
}

/** How long a window that a refusal showed is remembered: as long as a turn. */
const LEARNED_MS = 3_600_000;

/** A reply without a limit needs some room. Chosen. */
const LEAST_OUTPUT = 1024;

/** Compares what models can take with conversations, and learns from refusals of long ones. */
export function createCapabilityCheck(
  listed: () => ListedCapabilities,
  now: () => number = Date.now,
) {
  const learned = new Map<string, { readonly below: number; readonly untilMs: number }>();
  const sizes = new WeakMap<Conversation, ReturnType<typeof sizeOf>>();
  const find = (conversation: Conversation) => {
    const size = sizes.get(conversation) ?? sizeOf(conversation);
    sizes.set(conversation, size);
    return size;
  };
  const windowOf = (target: Target, { contextWindow = Infinity }: Capabilities) => {
    const known = learned.get(targetName(target));
    return known !== undefined && now() < known.untilMs
      ? Math.min(contextWindow, known.below)
      : contextWindow;
  };
  const known = (target: Target): Target => ({
    ...target,
    capabilities: capabilitiesOf(target, listed()),
  });
  /** Whether a model can take a request, as far as is known. */
  const isCapable = (target: Target, { conversation, passed }: Asked): boolean => {
    const isPassed = passed ? takesBody(target.upstream, passed) : false;
    const isLost =
      passed?.unsupported ?? lostSetting(conversation, target.upstream.type, target.model);
    if (!isPassed && isLost) return false;
    const given = capabilitiesOf(target, listed());
    const { hasTools, hasImages, hasFiles, isOver } = find(conversation);
    if (hasTools && given.tools === false) return false;
    if (hasImages && given.images === false) return false;
    if (hasFiles && given.files === false) return false;
    return !isOver(windowOf(target, given), given.maxOutputTokens);
  };
  /** Returns the plan without models that cannot take a request, if others can; the others know their capabilities. */
  const order = (plan: ReplyPlan, asked: Asked): ReplyPlan => {
    const isOnly = plan.targets.length === 1; // asked in any case
    const capable = isOnly ? [] : plan.targets.filter((target) => isCapable(target, asked));
    const [first = plan.targets[0], ...later] = capable.length === 0 ? plan.targets : capable;
    return { ...plan, targets: [known(first), ...later.map(known)] };
  };
  /** Notes that a model refused a conversation as too long. */
  const learn = (target: Target, conversation: Conversation): void => {
    const below = find(conversation).tokens();
    learned.set(targetName(target), { below: below - 1, untilMs: now() + LEARNED_MS });
  };
  return { isCapable, order, learn };
}

function sizeOf(conversation: Conversation) {
  const { messages, tools, settings } = conversation;
  const files = messages.flatMap(({ parts }) => parts.flatMap(filesOf));
  let [units, estimate] = [null as number | null, null as number | null];
  const tokens = () => (estimate ??= estimateInput(conversation));
  const isOver = (window: number, maxOutputTokens = Infinity): boolean => {
    if (window === Infinity) return false;
    const room = window - Math.min(settings.maxOutputTokens ?? LEAST_OUTPUT, maxOutputTokens);
    units ??= inputTokensOf(conversation, (text) => text.length).input;
    // The estimate costs 25 ms for each MB; most texts have a few UTF-16 units for each token.
    return (files.length > 0 || units > room) && tokens() > room;
  };
  return {
    tokens,
    isOver,
    hasTools: tools.length > 0,
    hasImages: files.some(({ type }) => type === "image"),
    hasFiles: files.some((file) => file.type === "file" && !/^audio\//i.test(file.mediaType)),
  };
}

/** Reads the capabilities of a model of the gateway's list. */
export function toCapabilities({ contextWindow, raw }: CatalogModel): Capabilities {
  const { tags, modalities, max_tokens: most, reasoning_options: efforts } = Object(raw) as Listed;
  const named = textsOf(tags);
  const inputs = textsOf((Object(modalities) as Listed).input);
  const isKnown = named.length > 0;
  const has = (tag: string, ...kinds: string[]) => {
    if (named.includes(tag) || kinds.some((kind) => inputs.includes(kind))) return true;
    return isKnown || (kinds.length > 0 && inputs.length > 0) ? false : null;
  };
  const options = Array.isArray(efforts) ? (efforts as Listed[]) : [];
  const levels = options.flatMap(({ type, values }) => (type === "effort" ? textsOf(values) : []));
  return givenOf({
    contextWindow,
    maxOutputTokens: Number.isInteger(most) && Number(most) > 0 ? Number(most) : null,
    images: has("vision", "image"),
    files: isKnown ? has("file-input", "file", "pdf") : null,
    tools: has("tool-use"),
    efforts: levels.length > 0 ? levels : null,
  });
}

type Listed = Readonly<Record<string, unknown>>;

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
