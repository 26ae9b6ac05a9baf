import { inspect } from "node:util";
import {
  type Evaluation,
  type EvaluationRequest,
  EvaluatorError,
  TimeoutError,
} from "evaluator-client";
import { answersTo, estimateUsd, questions } from "../service/answer.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { Random } from "../time/random.ts";
import type { World } from "../world.ts";
import {
  type ClientParts,
  type ClientSetting,
  connectClient,
  secondAddress,
  secondModel,
  type SharedByClients,
} from "./client-setting.ts";

/** A client of the simulation, in all of its lives. */
interface ClientOptions {
  readonly world: World;
  readonly name: string;
  readonly setting: ClientSetting;
  readonly shared: SharedByClients;
}

// A call ends at its deadline; a fraction for the order of timers.
const LATE_MS = 1;
// The client estimates a request without its body, some characters shorter.
const ESTIMATED_ALIKE = 0.95;
// So that states repeat, and a cache has something to do.
const STATES = 40;

/** One life of a client: it asks in batches and single calls until the load ends, or it is killed. */
export class ClientProcess {
  readonly #options: ClientOptions;
  readonly #clock: ProcessClock;
  readonly #random: Random;
  readonly #parts: ClientParts;
  /** The estimated price of answers that were lost on the way, in US dollars. */
  #lostUsd = 0;
  /** The price of the answers that came, in US dollars. */
  #answeredUsd = 0;
  /** When the calls began that have not ended, by their state. */
  readonly #open = new Map<string, number[]>();

  constructor(options: ClientOptions, clock: ProcessClock) {
    const { world, name } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = world.random(`load of ${name} at ${clock.time.nowMs}`);
    this.#parts = connectClient(world, {
      ...options,
      clock,
      onLost: (body) => (this.#lostUsd += estimateUsd(body)),
      onBegin: (request, next) => {
        this.#checkBudget();
        this.#checkKnown(JSON.stringify(request.state));
        return next(request);
      },
    });
    clock.onDeath(() => (world.tallies.of(name).cutOff += this.#openCount));
  }

  /** Asks until the load ends. */
  async live(): Promise<void> {
    const { world } = this.#options;
    const random = this.#random;
    if (world.plan.load === "steady") await this.#askBatch(Infinity);
    while (this.#clock.time.nowMs < world.endMs) {
      const doNext = random.pick(["batch", "batch", "calls", "idle"] as const);
      if (doNext === "batch") await this.#askBatch(random.whole(4, 40));
      if (doNext === "calls") await this.#askCalls(random.whole(1, 8));
      await this.#clock.wait(random.magnitude(100, 4000));
    }
    await this.#parts.evaluator.close();
    this.#checkMoney();
  }

  #draw(least: number, most: number): EvaluationRequest<typeof questions> {
    const mail = this.#random.whole(least, most);
    return { state: { mail, text: "word ".repeat(mail % STATES) }, questions };
  }

  async #askBatch(count: number): Promise<void> {
    const { world, setting, name } = this.#options;
    const { checks } = world;
    const { concurrency, order } = setting;
    const readAhead = this.#random.whole(concurrency, 4 * concurrency);
    const asked: EvaluationRequest<typeof questions>[] = [];
    const draw = () => this.#begin(this.#draw(1, STATES));
    const { time } = this.#clock;
    const source = function* source() {
      while (asked.length < count && time.nowMs < world.endMs) {
        const request = draw();
        asked.push(request);
        const given = { ...request, state: structuredClone(request.state) };
        yield given;
        // As a reader that fills the same object with each record.
        Object.assign(given.state, { mail: -1 });
      }
    };
    const ended = new Set<number>();
    const limits = { concurrency, readAhead, order };
    for await (const item of this.#parts.evaluator.evaluateMany(source(), limits)) {
      const { index } = item;
      checks.expect("nothing-lost", !ended.has(index), () => `item ${index} comes twice`);
      const isNext = order === "completion" || index === ended.size;
      checks.expect("order", isNext, () => `item ${index} comes after ${ended.size}`);
      ended.add(index);
      const held = asked.length - ended.size;
      const most = order === "completion" ? readAhead : readAhead + 4096;
      checks.expect("memory", held <= most, () => `${held} requests of a batch are held > ${most}`);
      const request = asked[index] as EvaluationRequest;
      this.#end(request, item.status === "succeeded" ? item.evaluation : item.error);
    }
    world.trace.add(this.#clock.time.nowMs, name, "has a batch of", ended.size);
    const isWhole = ended.size === asked.length;
    checks.expect("nothing-lost", isWhole, () => `${ended.size} of ${asked.length} items`);
  }

  async #askCalls(count: number): Promise<void> {
    // New states, of which some are the same.
    const first = STATES + Math.floor(this.#clock.time.nowMs);
    const draw = () => this.#draw(first, first + count);
    await Promise.all(Array.from({ length: count }, () => this.#askOne(draw())));
  }

  async #askOne(drawn: EvaluationRequest<typeof questions>): Promise<void> {
    const { checks } = this.#options.world;
    const random = this.#random;
    const request = this.#begin(drawn);
    const deadlineMs = random.magnitude(50, 60_000);
    const abortMs = random.chance(0.2) ? random.magnitude(1, 5000) : Infinity;
    const controller = new AbortController();
    const cancel = this.#clock.schedule(abortMs, () => controller.abort("enough"));
    const startedAtMs = this.#clock.now();
    const endMs = Math.min(deadlineMs, abortMs);
    const given = { ...request, state: structuredClone(request.state) };
    const asking = this.#parts.evaluator
      .evaluate(given, { deadlineMs, signal: controller.signal })
      .catch((error: unknown) => error);
    // Who changes a state later changes nothing.
    Object.assign(given.state, { mail: -1 });
    const outcome = await asking;
    cancel();
    const tookMs = this.#clock.now() - startedAtMs;
    const { hasFallback } = this.#options.setting;
    const isInTime = tookMs <= endMs + LATE_MS || this.#clock.wasDisturbed;
    checks.expect("ends", isInTime, () => `a call took ${tookMs} ms > ${endMs} ms`);
    const isOwn = !(outcome instanceof TimeoutError) || outcome.limit === "attempt";
    const isKept = isOwn || hasFallback || outcome.timeoutMs === deadlineMs;
    checks.expect("ends", isKept, () => `a call fails with another deadline than its own`);
    this.#end(request, outcome);
  }

  #begin(request: EvaluationRequest<typeof questions>) {
    const state = JSON.stringify(request.state);
    this.#open.set(state, [...(this.#open.get(state) ?? []), this.#clock.time.nowMs]);
    return request;
  }

  get #openCount(): number {
    return [...this.#open.values()].reduce((sum, { length }) => sum + length, 0);
  }

  #end(request: EvaluationRequest, outcome: unknown): void {
    const { world, name } = this.#options;
    const { trace, checks } = world;
    const state = JSON.stringify(request.state);
    this.#open.set(state, (this.#open.get(state) ?? []).slice(1));
    if (!(outcome instanceof Error) && typeof outcome === "object" && outcome !== null) {
      const evaluation = outcome as Evaluation;
      trace.add(this.#clock.time.nowMs, name, "has", state, evaluation.timing.attempts);
      // Not if another call was asked instead.
      if (evaluation.timing.attempts > 0) world.tallies.of(name).distinct += 1;
      this.#answeredUsd += evaluation.costUsd ?? 0;
      this.#checkAnswer(state, evaluation);
      return;
    }
    const isKnown = outcome === "enough" || outcome instanceof EvaluatorError;
    checks.expect("nothing-lost", isKnown, () => `a call ended with ${inspect(outcome)}`);
    const what = outcome instanceof Error ? `${outcome.name}: ${outcome.message}` : "abort";
    trace.add(this.#clock.time.nowMs, name, "fails", state, what);
    world.secrets.check("an error", what);
    if (outcome instanceof Error) world.secrets.check("an error", JSON.stringify(outcome));
  }

  #checkAnswer(state: string, { answers, modelId, transport, raw }: Evaluation): void {
    const { world, setting, name, shared } = this.#options;
    const isSecond = setting.hasFallback && modelId === secondModel;
    const model = isSecond ? secondModel : setting.model;
    const url = `${isSecond ? secondAddress : setting.baseUrl}/evaluation-model`;
    const asked = `${model} ${url} ${state}`;
    let right = shared.right.get(asked);
    if (right === undefined) {
      right = JSON.stringify(answersTo({ state, model, url }));
      shared.right.set(asked, right);
      world.secrets.check("an answer", JSON.stringify(raw));
    }
    const isRight = JSON.stringify(answers) === right;
    const seen = () => `${name} has the answer of ${modelId} over ${transport} about another call`;
    world.checks.expect("nothing-wrong", isRight, seen);
    if (!isSecond) shared.known.set(this.#keyOf(state), this.#clock.time.nowMs);
  }

  #keyOf(state: string): string {
    const { model, baseUrl } = this.#options.setting;
    return `${model} ${baseUrl} ${state}`;
  }

  /** A cache asks nothing that was answered before the call began. */
  #checkKnown(state: string): void {
    const { setting, shared, world } = this.#options;
    const knownAtMs = shared.known.get(this.#keyOf(state)) ?? Infinity;
    const [beganAtMs = 0] = this.#open.get(state) ?? [];
    const isNew = !setting.hasCache || beganAtMs <= knownAtMs;
    world.checks.expect("asked", isNew, () => `a call is asked again that is in the cache`);
  }

  /** No call begins over the budget: spent and reserved pass it only by calls that cost more than estimated. */
  #checkBudget(): void {
    const { world, setting } = this.#options;
    const { budget } = this.#parts;
    if (budget === null || setting.budgetUsd === null) return;
    const { costUsd, reservedUsd } = budget.spending;
    world.checks.expect("budget", reservedUsd > 0, () => `a call begins that is not reserved`);
    const perCallUsd = reservedUsd / Math.max(1, this.#openCount);
    const mostUsd = setting.budgetUsd + 2 * perCallUsd * this.#openCount;
    const isWithin = costUsd + reservedUsd <= mostUsd;
    const seen = () => `${costUsd} spent and ${reservedUsd} reserved > ${setting.budgetUsd}`;
    world.checks.expect("budget", isWithin, seen);
  }

  /** A lost answer is counted as its estimate. */
  #checkLost(spentUsd: number): void {
    const { world, setting } = this.#options;
    // Which of two services was asked is not told.
    if (setting.hasFallback) return;
    const toldUsd = spentUsd - this.#answeredUsd;
    const isTold = toldUsd >= this.#lostUsd * ESTIMATED_ALIKE - 1e-12;
    const seen = () => `${this.#lostUsd} dollars of lost answers, and ${toldUsd} told`;
    world.checks.expect("money", isTold, seen);
  }

  /** At the end nothing is reserved, and the budget has at least what was answered. */
  #checkMoney(): void {
    const { budget } = this.#parts;
    if (budget === null) return;
    const { reservedUsd, reservedTokens } = budget.spending;
    const isFree = Math.abs(reservedUsd) < 1e-12 && reservedTokens === 0;
    const seen = () => `${reservedUsd} dollars are reserved for no call`;
    this.#options.world.checks.expect("money", isFree, seen);
    this.#checkLost(budget.spending.costUsd);
  }
}
