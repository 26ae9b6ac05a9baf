import type { ReplyFailure } from "../reply/generate-reply.ts";
import { retryAfterMs } from "../reply/reply-failure.ts";
import { type ReplyPlan, type Target, targetName } from "../reply/upstream.ts";
import type { Cause } from "./decision.ts";

/** Time that a model without a `Retry-After` is left alone. Chosen: a turn of a person, not an outage. */
const COOLDOWN_MS = 60_000;
const LONGEST_COOLDOWN_MS = 600_000;

interface Cooldown {
  readonly untilMs: number;
  readonly cause: Cause;
}

type NotedFailure = Pick<ReplyFailure, "cause" | "httpError" | "isOfRequest">;

/** Remembers models that failed before their first word; they are asked last for a while. */
export function createCooldowns(now: () => number = Date.now) {
  const cooldowns = new Map<string, Cooldown>();
  const findCooldown = (target: Target): Cooldown | null => {
    const cooldown = cooldowns.get(targetName(target));
    return cooldown !== undefined && now() < cooldown.untilMs ? cooldown : null;
  };
  /** Notes how a call of a model ended; null is a reply. */
  const note = (target: Target, notedFailure: NotedFailure | null): void => {
    if (notedFailure === null) cooldowns.delete(targetName(target));
    if (notedFailure === null || notedFailure.cause === null || notedFailure.isOfRequest) return;
    const waitMs = toWaitMs(notedFailure.httpError?.retryAfter ?? null, now());
    cooldowns.set(targetName(target), { untilMs: now() + waitMs, cause: notedFailure.cause });
  };
  /** Returns the plan with the models last that are left alone, and why its first one is replaced, if it is. */
  const order = (plan: ReplyPlan): { readonly plan: ReplyPlan; readonly cause: Cause | null } => {
    const [first] = plan.targets;
    const cooldown = findCooldown(first);
    if (cooldown === null) return { plan, cause: null };
    const isReady = (target: Target) => findCooldown(target) === null;
    const ready = plan.targets.filter(isReady);
    const [next = first, ...later] = [...ready, ...plan.targets.filter((each) => !isReady(each))];
    const cause = next === first ? null : cooldown.cause;
    return { plan: { ...plan, targets: [next, ...later] }, cause };
  };
  return { note, order };
}

function toWaitMs(retryAfter: string | null, nowMs: number): number {
  const retryMs = retryAfter === null ? Number.NaN : retryAfterMs(retryAfter, nowMs);
  return Number.isNaN(retryMs) ? COOLDOWN_MS : Math.min(Math.max(0, retryMs), LONGEST_COOLDOWN_MS);
}
