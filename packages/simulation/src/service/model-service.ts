import type { FaultOf } from "../plan/fault.ts";
import type { Tallies } from "../properties/tally.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import { EPOCH_MS } from "../time/process-clock.ts";
import type { Random } from "../time/random.ts";
import type { VirtualTime } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import { answersTo, tokensOf, USD_PER_TOKEN } from "./answer.ts";
import { ServiceFaults } from "./service-faults.ts";
import { type ServiceLimit, TokenBucket } from "./token-bucket.ts";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What the service does with one request. */
interface Request {
  readonly caller: Caller;
  readonly url: string;
  readonly model: string;
  readonly body: string;
  /** The state as JSON. */
  readonly state: string;
  readonly sentAtMs: number;
}

/** What happens to the requests of a process, for those who follow it. */
export interface RequestFollower {
  /** The first request of a call about a mail is about to be sent. */
  asks?(caller: Caller, mail: number): void;
  /** A process sends a request. */
  sent?(caller: Caller, body: string): void;
  /** A request arrived that was sent at that time. */
  arrived?(caller: Caller, body: string, sentAtMs: number): void;
  /** An answer was counted and lost, so that its caller does not know its price. */
  lost?(body: string): void;
  /** A refusal of a pause that ends at `untilMs` reached the caller. */
  refused?(caller: Caller, untilMs: number): void;
  /** A request has its end: an answer of that price, or none. */
  ended?(caller: Caller, body: string, usd: number | null): void;
}

/** A process that asks the service, by its name in the trace. */
export interface Caller {
  readonly name: string;
  readonly clock: ProcessClock;
  /** The key that it sends, which the service may repeat in an error. */
  readonly apiKey: string;
  readonly follower?: RequestFollower | undefined;
}

/** The settings of a service. */
interface ServiceOptions {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly tallies: Tallies;
  readonly random: Random;
  /** Null for none. */
  readonly limit: ServiceLimit | null;
  /** How long an answer takes on average, in milliseconds. */
  readonly latencyMs: number;
  readonly faults: readonly FaultOf<"service">[];
}

// The caller of an answer against the contract knows its price.
const lostFaults: ReadonlySet<string> = new Set(["cut", "garbage", "hang", "lost-after"]);

/** A model behind an HTTP interface; it counts what it answers and what that costs. */
export class ModelService {
  readonly #options: ServiceOptions;
  readonly #faults: ServiceFaults;
  readonly #bucket: TokenBucket | null;
  readonly #answers = new Map<string, { readonly answers: string; readonly inputTokens: number }>();
  /** Requests that were refused because of the limit. */
  throttled = 0;
  /** The price of each answer in US dollars, also of those that were lost on the way, by its id. */
  readonly costs = new Map<string, { readonly usd: number; readonly caller: string }>();

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#faults = new ServiceFaults(options.faults);
    this.#bucket = options.limit && new TokenBucket(options.limit);
    const { time, faults } = options;
    for (const fault of faults) {
      if (fault.what !== "rate") continue;
      time.schedule(fault.atMs, () => this.#bucket?.changeTo(fault.perSecond, time.nowMs));
    }
  }

  /** When a request met a fault last. */
  get faultMetAtMs(): number {
    return this.#faults.metAtMs;
  }

  /** Returns a `fetch` that connects a process with the service. */
  connect(caller: Caller): Fetch {
    return (url, init) => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      const signal = init.signal as AbortSignal;
      const onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      const settle =
        <TValue>(end: (value: TValue) => void) =>
        (value: TValue) => {
          signal.removeEventListener("abort", onAbort);
          end(value);
        };
      const body = init.body as string;
      caller.follower?.sent?.(caller, body);
      const headers = init.headers as Record<string, string>;
      const model = headers["ai-model-id"] ?? "";
      const state = body.slice('{"state":'.length, body.lastIndexOf(',"questions":'));
      const request = { caller, url, model, body, state, sentAtMs: this.#options.time.nowMs };
      const halfMs = () => (this.#options.latencyMs / 2) * this.#options.random.between(0.5, 1.5);
      this.#options.time.schedule(halfMs(), () => {
        if (signal.aborted || caller.clock.isDead) return;
        const reply = this.#answer(request);
        if (reply === null) return;
        const isSlow = reply.fault === "slow";
        caller.clock.schedule(halfMs() * (isSlow ? 40 : 1), () => {
          const isUsed = reply.isGood && !signal.aborted;
          if (isUsed) this.#options.tallies.of(caller.name).used += 1;
          if (reply.isGood && signal.aborted) caller.follower?.lost?.(body);
          if (reply.untilMs !== null) caller.follower?.refused?.(caller, reply.untilMs);
          caller.follower?.ended?.(caller, body, isUsed ? reply.usd : null);
          if (reply.error === null) settle(resolve)(toResponse(reply));
          else settle(reject)(reply.error);
        });
      });
      return promise;
    };
  }

  /** Returns the reply to a request, or null if none is sent. */
  #answer(request: Request): Reply | null {
    const { time, trace } = this.#options;
    const fault = this.#faults.next(time.nowMs);
    const note = (what: string | number) =>
      trace.add(time.nowMs, request.caller.name, "asks", request.model, request.state, what);
    if (fault?.what === "outage" || fault?.what === "lost-before") {
      note(fault.what);
      return failed(fault.what === "outage" ? "ECONNREFUSED" : "ECONNRESET");
    }
    this.#options.tallies.of(request.caller.name).asked += 1;
    const { caller, body, sentAtMs } = request;
    caller.follower?.arrived?.(caller, body, sentAtMs);
    if (fault?.what === "status") {
      note(fault.status);
      return refusal(request, fault.status, fault.retryAfterMs);
    }
    const waitMs = this.#bucket?.take(time.nowMs) ?? 0;
    const limitMs = fault?.what === "limit" ? fault.atMs + fault.forMs - time.nowMs : waitMs;
    if (limitMs > 0) {
      if (fault?.what !== "limit") this.throttled += 1;
      note(429);
      const untilMs = fault?.what === "limit" ? fault.atMs + fault.forMs : null;
      return { ...refusal(request, 429, Math.ceil(limitMs)), untilMs };
    }
    note(fault?.what ?? 200);
    const { text, usd } = this.#toBody(request);
    if (fault !== null && lostFaults.has(fault.what)) caller.follower?.lost?.(body);
    if (fault?.what === "hang") return null;
    if (fault?.what === "lost-after") return failed("UND_ERR_SOCKET");
    const isGood = fault === null || fault.what === "slow";
    return { ...answered, text, usd, isGood, fault: fault?.what ?? null };
  }

  #toBody(request: Request): { readonly text: string; readonly usd: number } {
    const { model, caller } = request;
    const { answers, inputTokens } = this.#answersTo(request);
    const usd = inputTokens * USD_PER_TOKEN;
    const id = `gen_${this.costs.size + 1}`;
    this.costs.set(id, { usd, caller: caller.name });
    const startTime = EPOCH_MS + Math.round(this.#options.time.nowMs);
    const attempts = [{ success: true, startTime, endTime: startTime + 100 }];
    const modelAttempts = [{ success: true, providerAttempts: attempts }];
    const routing = { canonicalSlug: model, modelAttempts };
    const rest = JSON.stringify({
      rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
      usage: { inputTokens, outputTokens: 0 },
      warnings: [],
      providerMetadata: {
        maker: { confidence: { topic: 0.5, urgency: 0.5 } },
        gateway: { routing, cost: "0", marketCost: String(usd), generationId: id },
      },
    });
    return { text: `{"answers":${answers},${rest.slice(1)}`, usd };
  }

  /** Returns the answers to a request as JSON, which are the same each time. */
  #answersTo({ body, state, model, url }: Request) {
    const key = `${model} ${url} ${body}`;
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answers = JSON.stringify(answersTo({ state, model, url }));
    const made = { answers, inputTokens: tokensOf(body, { state }) };
    this.#answers.set(key, made);
    return made;
  }
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly fault: FaultOf<"service">["what"] | null;
  /** The error of the connection, instead of a response. */
  readonly error: Error | null;
  /** Whether it is a whole answer. */
  readonly isGood: boolean;
  /** The price of the answer in US dollars; 0 for none. */
  readonly usd: number;
  /** When a pause of the service ends that refused it; null for none. */
  readonly untilMs: number | null;
}

const answered: Reply = {
  status: 200,
  headers: { "content-type": "application/json" },
  text: "",
  fault: null,
  error: null,
  isGood: false,
  usd: 0,
  untilMs: null,
};

function failed(code: string): Reply {
  const cause = Object.assign(new Error(`A socket failed with ${code}.`), { code });
  return { ...answered, error: new TypeError("fetch failed", { cause }) };
}

// The contract (section 7) shows no body of an error; a careless service repeats the request in it.
function refusal(request: Request, status: number, retryAfterMs: number | null): Reply {
  const message = `Status ${status} for key ${request.caller.apiKey} and state ${request.state}.`;
  const wait: Record<string, string> =
    retryAfterMs === null ? {} : { "retry-after-ms": String(retryAfterMs) };
  const text = JSON.stringify({ error: { message, type: null } });
  return { ...answered, status, headers: { ...answered.headers, ...wait }, text };
}

function toResponse({ status, headers, text, fault }: Reply): Response {
  if (fault === "garbage") return wholeResponse(text.slice(0, -20), { status, headers });
  if (fault === "broken")
    return wholeResponse(text.replace("}", ',"more":1}'), { status, headers });
  if (fault !== "cut") return wholeResponse(text, { status, headers });
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text.slice(0, 40))),
    pull: (controller) => controller.error(new TypeError("terminated")),
  });
  return new Response(body, { status, headers });
}

/** Returns what the client reads of a response; a real one would take a tenth of all time of a simulation. */
function wholeResponse(text: string, { status, headers }: Pick<Reply, "status" | "headers">) {
  const chunks = [Buffer.from(text)];
  const read = async () => ({ done: chunks.length === 0, value: chunks.pop() });
  const body = { getReader: () => ({ read, cancel: async () => {} }) };
  return { status, headers: Object.entries(headers), body } as unknown as Response;
}
