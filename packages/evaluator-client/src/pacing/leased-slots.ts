import type { Clock } from "../clock.ts";
import { quietly } from "../logger.ts";
import { leaseFrom, type LimitStore, memoryLimits, pauseAll } from "./limit-store.ts";
import { type RateLimits, scaleLimits } from "./rate-limits.ts";

// Less than an equal share, as leases of the store may still be in use. In
// processes-simulation.test.ts the whole share throttles some, and half of this uses 49 to 64 %
// while the store is down, not 91 %.
const OWN_SHARE = 0.9;
// In processes-simulation.test.ts a store that takes 50 ms for each of read and swap answers 8 processes
// within 0.4 s. With 250 ms some go on alone while it answers, and 2 % are throttled.
const STORE_TIMEOUT_MS = 500;
const STORE_RETRY_MS = 1000;

type Lease = Awaited<ReturnType<typeof leaseFrom>>;

/** An instant at which one request may be sent, and the tokens that were leased with it. */
interface Slot {
  readonly atMs: number;
  readonly tokens: number;
}

/** Which limit is shared, through which store, and what happens without it. */
export interface SharedPacerOptions {
  /** The store that all processes use, such as `memoryLimits()`. */
  store: LimitStore;
  /** The name of the limit, the same in all processes; not the API key. */
  key: string;
  /** The limits of all processes together; 95 % of each is used. */
  limits: RateLimits;
  /** Without the store, use an equal share of the limit or send nothing. @default "own-share" */
  whenStoreIsDown?: "own-share" | "closed" | undefined;
  /** How much of the rate one lease reserves, in milliseconds. @default 100 */
  leaseMs?: number | undefined;
  /** Called once when the store cannot be reached, and once when it can be again. @default none */
  onStoreChange?: ((isDown: boolean) => void) | undefined;
}

interface LeaseOptions extends SharedPacerOptions {
  readonly whenStoreIsDown: "own-share" | "closed";
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Identifies this process to the store. */
  readonly member: string;
  /** Called when slots came, or when the store was lost or found again. */
  onChange(): void;
  /** Called when a pause of all members begins. */
  onPause(ms: number): void;
}

/** The instants that were leased from the store or, while it is down, from an own share of the limit. */
export class LeasedSlots {
  readonly #options: LeaseOptions;
  readonly #ownStore: LimitStore;
  /** Ends the listening to the store. */
  readonly close: () => void;
  /** The earliest first. */
  readonly #leasedSlots: Slot[] = [];
  #endAtMs = Number.NEGATIVE_INFINITY;
  #tokensOwed = 0;
  #members = 1;
  #roundTripMs = 0;
  /** The demand that the store is asked for. */
  #pendingDemand: object | null = null;
  #isAskingOwn = false;
  #isStoreDown = false;
  #retryAtMs = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#ownStore = memoryLimits({ clock: options.clock });
    this.close = options.store.onPause(options.key, (ms) => this.#heardOfPause(ms));
  }

  get count(): number {
    return this.#leasedSlots.length;
  }

  /** When the first slot may be used; infinite without one. */
  get firstAtMs(): number {
    return this.#leasedSlots[0]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  /** A slow store is asked less often, and for more. */
  get #leaseMs(): number {
    return Math.max(this.#options.leaseMs, this.#roundTripMs);
  }

  /** When to ask for more; infinite while an answer is awaited. */
  get askAtMs(): number {
    const { whenStoreIsDown } = this.#options;
    const endsSoonAtMs = this.#endAtMs - this.#leaseMs;
    const isOwnShare = this.#isStoreDown && whenStoreIsDown === "own-share";
    if (isOwnShare ? this.#isAskingOwn : this.#pendingDemand !== null)
      return Number.POSITIVE_INFINITY;
    return this.#isStoreDown && !isOwnShare ? this.#retryAtMs : endsSoonAtMs;
  }

  /** Takes the first slot for a request of that many tokens; returns whether there was one. */
  takeSlot(tokens: number, nowMs: number): boolean {
    if (this.firstAtMs > nowMs) return false;
    const takenSlot = this.#leasedSlots.shift();
    this.correct(tokens - (takenSlot?.tokens ?? 0));
    return true;
  }

  /** Counts tokens that were used and not leased; negative for those leased and not used. */
  correct(tokens: number): void {
    this.#tokensOwed += tokens;
  }

  /** Drops the slots from before that time. */
  dropBefore(ms: number): void {
    while (this.firstAtMs < ms) this.correct(-(this.#leasedSlots.shift()?.tokens ?? 0));
    if (this.#leasedSlots.length === 0) this.#endAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Asks the store for slots for these calls, at most for one lease; while it is down, the own share as well. */
  askForSlots(waitingCalls: readonly { readonly tokens: number }[]): void {
    const { clock, whenStoreIsDown, limits } = this.#options;
    const { requestsPerMinute = Infinity, tokensPerSecond = Infinity } = limits;
    const mostRequests = Math.max(1, Math.ceil((requestsPerMinute / 60_000) * this.#leaseMs));
    const enoughTokens = (tokensPerSecond / 1000) * this.#leaseMs;
    const leaseDemand = { requests: 0, tokens: 0 };
    for (const { tokens } of waitingCalls.slice(0, mostRequests)) {
      if (leaseDemand.tokens >= enoughTokens) break;
      leaseDemand.requests += 1;
      leaseDemand.tokens += tokens;
    }
    leaseDemand.tokens = Math.max(0, Math.round(leaseDemand.tokens + this.#tokensOwed));
    const isTimeToTry = !this.#isStoreDown || clock.now() >= this.#retryAtMs;
    if (this.#pendingDemand === null && isTimeToTry) void this.#askStore(leaseDemand);
    if (this.#isStoreDown && whenStoreIsDown === "own-share") void this.#askOwnShare(leaseDemand);
  }

  pauseSlots(ms: number): void {
    const { store, key } = this.#options;
    void pauseAll(this.#ownStore, key, ms);
    pauseAll(store, key, ms).catch(() => this.#noteStoreLoss());
  }

  async #askStore(leaseDemand: { requests: number; tokens: number }): Promise<void> {
    const { store, key, limits, clock, member } = this.#options;
    this.#pendingDemand = leaseDemand;
    const askedAtMs = clock.now();
    const cancelTimeout = clock.schedule(STORE_TIMEOUT_MS, () => this.#noteStoreLoss());
    try {
      const grantedLease = await leaseFrom(store, key, { member, limits, ...leaseDemand });
      this.#roundTripMs = clock.now() - askedAtMs;
      this.#members = grantedLease.members;
      this.#setDown(false);
      if (grantedLease.pausedMs > 0) this.#heardOfPause(grantedLease.pausedMs);
      this.#holdSlots(grantedLease, leaseDemand);
    } catch {
      this.#noteStoreLoss();
    }
    cancelTimeout();
    if (this.#pendingDemand === leaseDemand) this.#pendingDemand = null;
    this.#options.onChange();
  }

  async #askOwnShare(leaseDemand: { requests: number; tokens: number }): Promise<void> {
    const { key, limits, member } = this.#options;
    this.#isAskingOwn = true;
    const memberShare = OWN_SHARE / this.#members;
    // As long ahead as a lease of the store, so that few are left over when it is back.
    const requests = Math.max(1, Math.floor(leaseDemand.requests * memberShare));
    const ownDemand = { requests, tokens: (leaseDemand.tokens * requests) / leaseDemand.requests };
    const leaseRequest = { member, limits: scaleLimits(limits, memberShare), ...ownDemand };
    this.#holdSlots(await leaseFrom(this.#ownStore, key, leaseRequest), ownDemand);
    this.#isAskingOwn = false;
    this.#options.onChange();
  }

  /** The store does not answer; it is tried again in a while, even if its answer still comes. */
  #noteStoreLoss(): void {
    this.#setDown(true);
    this.#pendingDemand = null;
    this.#retryAtMs = this.#options.clock.now() + STORE_RETRY_MS;
    this.#options.onChange();
  }

  #setDown(isDown: boolean): void {
    if (this.#isStoreDown === isDown) return;
    this.#isStoreDown = isDown;
    quietly(this.#options, "onStoreChange", isDown);
  }

  // The own share pauses as well: the store may be lost in the pause, or be down already.
  #heardOfPause(ms: number): void {
    void pauseAll(this.#ownStore, this.#options.key, ms);
    this.#options.onPause(ms);
  }

  #holdSlots({ waitMs, gapMs }: Lease, leaseDemand: { requests: number; tokens: number }): void {
    const startMs = this.#options.clock.now() + waitMs;
    const tokens = leaseDemand.tokens / leaseDemand.requests;
    for (let slotIndex = 0; slotIndex < leaseDemand.requests; slotIndex += 1) {
      this.#leasedSlots.push({ atMs: startMs + slotIndex * gapMs, tokens });
    }
    this.#leasedSlots.sort((leftSlot, rightSlot) => leftSlot.atMs - rightSlot.atMs);
    this.#endAtMs = Math.max(this.#endAtMs, startMs + leaseDemand.requests * gapMs);
  }
}
