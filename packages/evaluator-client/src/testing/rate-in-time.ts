import { AdaptiveRate } from "../pacing/adaptive-rate.ts";
import { RecentSuccesses } from "../pacing/pacer.ts";

/** A rate at a time that goes on with what happens. */
export class RateInTime {
  readonly #throughput = new RecentSuccesses();
  readonly rate = new AdaptiveRate(this.#throughput);
  nowMs = 0;

  /** Requests succeed one after the other, each an interval after the one before. */
  succeed(times: number, everyMs = this.rate.intervalMs): this {
    for (let time = 0; time < times; time += 1) {
      this.#succeedOnce();
      this.nowMs += everyMs;
    }
    return this;
  }

  /** A throttled answer begins a pause that ends with a success. */
  pause(pauseMs: number): this {
    this.rate.throttled(this.nowMs);
    this.nowMs += pauseMs;
    this.#succeedOnce();
    this.rate.reopened(this.nowMs);
    return this;
  }

  #succeedOnce(): void {
    this.#throughput.add(this.nowMs);
    this.rate.succeeded(this.nowMs, this.nowMs);
  }

  /** A throttled answer stands alone. */
  stray(): this {
    this.rate.strayed(this.nowMs, this.nowMs);
    return this;
  }

  /** Requests per second, to two places. */
  get perSecond(): number {
    return Number((1000 / this.rate.intervalMs).toFixed(2));
  }
}
