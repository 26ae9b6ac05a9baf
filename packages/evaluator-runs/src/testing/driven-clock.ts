import { type AttachableClock, TestClock } from "pg-boss";

// With the setting, our SQL reads the time of the test.
const drivenNow = `
  create or replace function evaluator.now() returns timestamptz language sql as $$
    select coalesce(
      to_timestamp(nullif(current_setting('evaluator.now_s', true), '')::float8), clock_timestamp())
  $$`;

/** A clock that a test drives: of pg-boss, and of the server if it is a PostgreSQL in memory. */
export class DrivenClock extends TestClock {
  #serverAheadMs = 0;

  /** Lets the server's clock alone go forwards or backwards. */
  async stepServer(ms: number): Promise<void> {
    this.#serverAheadMs += ms;
    await this.setTime(this.now());
  }

  override async attach(target: Parameters<AttachableClock["attach"]>[0]) {
    const executeSql: typeof target.db.executeSql = (...call) => target.db.executeSql(...call);
    await executeSql(drivenNow);
    const attached = await super.attach({
      ...target,
      db: {
        executeSql: async (text: string, values?: unknown[]) => {
          if (values === undefined) return await executeSql(text);
          const seconds = Number(values[0]) + this.#serverAheadMs / 1000;
          await executeSql("select set_config('evaluator.now_s', $1, false)", [String(seconds)]);
          return await executeSql(text, [seconds]);
        },
      },
    });
    await this.setTime(this.now());
    return {
      async [Symbol.asyncDispose]() {
        await attached[Symbol.asyncDispose]();
        await executeSql("reset evaluator.now_s");
      },
    };
  }
}
