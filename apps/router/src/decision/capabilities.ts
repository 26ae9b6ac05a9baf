import type { CatalogModel } from "evaluator-client";
import { type Conversation, listFiles, withoutUndefined } from "../conversation/conversation.ts";
import { lostSetting } from "../conversation/to-call-options.ts";
import { listInputTokens } from "../conversation/input-tokens.ts";
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
export function findCapabilities(
  { upstream, model, capabilities }: Target,
  listedCapabilities: ListedCapabilities,
): Capabilities {
  return { ...(upstream.type === "gateway" && listedCapabilities.get(model)), ...capabilities };
}

/** Returns the greatest capabilities of several models, since `auto` chooses among them. */
export function findBest(all: readonly Capabilities[]): Capabilities {
  const largestOf = (name: "contextWindow" | "maxOutputTokens") =>
    all.reduce<number | null>((best, each) => Math.max(best ?? 0, each[name] ?? 0) || null, null);
  const canAny = (name: "images" | "files" | "tools") =>
    all.every((each) => each[name] === undefined) ? null : all.some((each) => each[name] !== false);
  const efforts = [...new Set(all.flatMap((tierLimits) => tierLimits.efforts ?? []))];
  return withoutUndefined({
    contextWindow: largestOf("contextWindow"),
    maxOutputTokens: largestOf("maxOutputTokens"),
    images: canAny("images"),
    files: canAny("files"),
    tools: canAny("tools"),
    efforts: efforts.length > 0 ? efforts : null,
  });
}

/** How long a window that a refusal showed is remembered: as long as a turn. */
const LEARNED_MS = 3_600_000;

/** A reply without a limit needs some room. Chosen. */
const LEAST_OUTPUT = 1024;

/** Compares what models can take with conversations, and learns from refusals of long ones. */
export function createCapabilityCheck(
  listedCapabilities: ListedCapabilities,
  now: () => number = Date.now,
) {
  const refusalsByTarget = new Map<string, { readonly below: number; readonly untilMs: number }>();
  const sizesByConversation = new WeakMap<Conversation, ReturnType<typeof toSize>>();
  const findSize = (conversation: Conversation) => {
    const conversationSize = sizesByConversation.get(conversation) ?? toSize(conversation);
    sizesByConversation.set(conversation, conversationSize);
    return conversationSize;
  };
  const toWindow = (target: Target, { contextWindow = Infinity }: Capabilities) => {
    const refusal = refusalsByTarget.get(targetName(target));
    return refusal !== undefined && now() < refusal.untilMs
      ? Math.min(contextWindow, refusal.below)
      : contextWindow;
  };
  const withListed = (target: Target): Target => ({
    ...target,
    capabilities: findCapabilities(target, listedCapabilities),
  });
  /** Whether a model can take a request, as far as is known. */
  const isCapable = (target: Target, { conversation, passed: passedRequest }: Asked): boolean => {
    const isPassed = passedRequest ? takesBody(target.upstream, passedRequest) : false;
    const isLost =
      passedRequest?.unsupported ?? lostSetting(conversation, target.upstream.type, target.model);
    if (!isPassed && isLost) return false;
    const givenCapabilities = findCapabilities(target, listedCapabilities);
    const { tools, images, files, maxOutputTokens } = givenCapabilities;
    if (tools === false && findSize(conversation).hasTools) return false;
    if (images === false && findSize(conversation).hasImages) return false;
    if (files === false && findSize(conversation).hasFiles) return false;
    const tokenWindow = toWindow(target, givenCapabilities);
    return tokenWindow === Infinity || !findSize(conversation).isOver(tokenWindow, maxOutputTokens);
  };
  /** Returns the plan without models that cannot take a request, if others can. */
  const order = (plan: ReplyPlan, askedRequest: Asked): ReplyPlan => {
    const [first, ...later] = plan.targets.filter((target) => isCapable(target, askedRequest));
    return first === undefined ? plan : { ...plan, targets: [first, ...later] };
  };
  /** Returns the plan with the capabilities of its models. */
  const withCapabilities = ({ targets: [first, ...later], ...plan }: ReplyPlan): ReplyPlan => ({
    ...plan,
    targets: [withListed(first), ...later.map(withListed)],
  });
  /** Notes that a model refused a conversation as too long. */
  const learn = (target: Target, conversation: Conversation): void => {
    const below = findSize(conversation).tokens();
    refusalsByTarget.set(targetName(target), { below: below - 1, untilMs: now() + LEARNED_MS });
  };
  return { isCapable, order, withCapabilities, learn };
}

function toSize(conversation: Conversation) {
  const { messages, tools, settings } = conversation;
  const files = messages.flatMap(({ parts }) => parts.flatMap(listFiles));
  let [characterCount, tokenEstimate] = [null as number | null, null as number | null];
  const tokens = () => (tokenEstimate ??= estimateInput(conversation));
  const isOver = (window: number, maxOutputTokens = Infinity): boolean => {
    const freeTokens = window - Math.min(settings.maxOutputTokens ?? LEAST_OUTPUT, maxOutputTokens);
    characterCount ??= listInputTokens(conversation, (countedText) => countedText.length).input;
    // The estimate costs 25 ms for each MB; most texts have a few UTF-16 units for each token.
    return (files.length > 0 || characterCount > freeTokens) && tokens() > freeTokens;
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
  const tagNames = listTexts(tags);
  const inputKinds = listTexts((Object(modalities) as Listed).input);
  const isKnown = tagNames.length > 0;
  const hasCapability = (tagName: string, ...kinds: string[]) => {
    if (tagNames.includes(tagName) || kinds.some((kind) => inputKinds.includes(kind))) return true;
    return isKnown || (kinds.length > 0 && inputKinds.length > 0) ? false : null;
  };
  const reasoningOptions = Array.isArray(efforts) ? (efforts as Listed[]) : [];
  const effortLevels = reasoningOptions.flatMap(({ type, values }) =>
    type === "effort" ? listTexts(values) : [],
  );
  return withoutUndefined({
    contextWindow,
    maxOutputTokens: Number.isInteger(most) && Number(most) > 0 ? Number(most) : null,
    images: hasCapability("vision", "image"),
    files: isKnown ? hasCapability("file-input", "file", "pdf") : null,
    tools: hasCapability("tool-use"),
    efforts: effortLevels.length > 0 ? effortLevels : null,
  });
}

type Listed = Readonly<Record<string, unknown>>;

function listTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((listItem) => typeof listItem === "string") : [];
}
