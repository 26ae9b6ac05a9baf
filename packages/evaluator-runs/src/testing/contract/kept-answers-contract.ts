import type { Evaluation } from "evaluator-client";
import { beforeEach, expect, test } from "vitest";
import { callKey, setupHash, toKeptText } from "../../journal/kept-answer.ts";
import { newRun } from "../sample-runs.ts";
import { sampleEvaluation, sampleSetup } from "../samples.ts";
import { allRows, signal, type StoreUnderTest } from "./store-under-test.ts";

/** A record, and the key of its answer. */
interface KeyedRecord {
  readonly id: string;
  readonly key: string;
  readonly state: { readonly about: string };
}

/** How a call ended. */
type KeptEnd =
  | { readonly evaluation: Evaluation }
  | { readonly error: string; readonly isRefusal?: boolean };

/** How a record ended, as a reader sees it. */
interface ReadEnd {
  readonly id: string;
  readonly probability: number | null;
  readonly error: string | null;
}

/** The part that all journals have in common, in SQLite and elsewhere. */
export interface AnswersUnderTest {
  /** Begins a run over records; a later one may have the same records again. */
  begin(records: readonly KeyedRecord[]): Promise<void>;
  /** Resolves once the end of a call is kept. */
  keep(record: KeyedRecord, end: KeptEnd): Promise<void>;
  /** Reads the rows of the newest run, as a process that begins now. */
  read(): Promise<readonly ReadEnd[]>;
  /** Reads the statuses of calls, as a process that begins now. */
  statusesOf(keys: readonly string[]): Promise<readonly string[]>;
  /** Replaces the probability in a kept answer. */
  change(record: KeyedRecord): Promise<void>;
}

const [first, second, third] = ["m-1", 'tab\t "two"\n', "ä🙂"].map((id) => {
  const state = { about: id };
  return { id, state, key: callKey(setupHash(sampleSetup), JSON.stringify(state)) };
}) as [KeyedRecord, KeyedRecord, KeyedRecord];
const all = [first, second, third];
const keys = all.map(({ key }) => key);
const open = { probability: null, error: null };

/** How answers, failures and refusals are kept, whatever keeps them. */
export function testKeptAnswers(openAnswers: () => Promise<AnswersUnderTest>): void {
  let store: AnswersUnderTest;
  beforeEach(async () => {
    store = await openAnswers();
    await store.begin(all);
  });

  const ends = async () => {
    const read = await store.read();
    expect(read.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    return read.map(({ probability, error }) => ({ probability, error }));
  };

  test("an answer is there for other readers as soon as it is kept", async () => {
    expect(await store.statusesOf(keys)).toEqual(["unknown", "unknown", "unknown"]);
    await store.keep(second, { evaluation: sampleEvaluation(0.25) });
    expect(await store.statusesOf(keys)).toEqual(["unknown", "answered", "unknown"]);
    expect(await ends()).toEqual([open, { probability: 0.25, error: null }, open]);
  });

  test("ends that come at once are all kept", async () => {
    await Promise.all(
      all.map((record, at) => store.keep(record, { evaluation: sampleEvaluation(at / 4) })),
    );
    expect(await store.statusesOf(keys)).toEqual(["answered", "answered", "answered"]);
    expect((await ends()).map((end) => end?.probability)).toEqual([0, 0.25, 0.5]);
  });

  test("rows have the order of their run's records, whenever each has its end", async () => {
    await store.keep(third, { evaluation: sampleEvaluation(0.75) });
    await store.keep(first, { error: "It failed." });
    expect(await ends()).toMatchObject([{ error: "It failed." }, open, { probability: 0.75 }]);
    const again = [second, third, first];
    await store.begin(again);
    await store.keep(first, { evaluation: sampleEvaluation(0.25) });
    const read = await store.read();
    expect(read.map(({ id }) => id)).toEqual(again.map(({ id }) => id));
    expect(read.map(({ probability }) => probability)).toEqual([null, 0.75, 0.25]);
  });

  test("a failed call is unknown and is told, until it has an answer", async () => {
    await store.keep(first, { error: "It failed." });
    expect(await store.statusesOf(keys)).toEqual(["unknown", "unknown", "unknown"]);
    expect(await ends()).toEqual([{ probability: null, error: "It failed." }, open, open]);
    await store.keep(first, { evaluation: sampleEvaluation(0.5) });
    expect(await ends()).toEqual([{ probability: 0.5, error: null }, open, open]);
  });

  test("a refused call is refused in later runs too, until it has an answer", async () => {
    await store.keep(third, { error: "It is too long.", isRefusal: true });
    await store.begin(all);
    expect(await store.statusesOf(keys)).toEqual(["unknown", "unknown", "refused"]);
    expect(await ends()).toEqual([open, open, { probability: null, error: "It is too long." }]);
    await store.keep(third, { evaluation: sampleEvaluation(0.5) });
    expect(await store.statusesOf(keys)).toEqual(["unknown", "unknown", "answered"]);
  });

  test("an answer is there for later runs, unless it was changed", async () => {
    for (const record of [first, second]) {
      await store.keep(record, { evaluation: sampleEvaluation(0.25) });
    }
    await store.change(second);
    await store.begin(all);
    expect(await store.statusesOf(keys)).toEqual(["answered", "changed", "unknown"]);
    expect(await ends()).toEqual([{ probability: 0.25, error: null }, open, open]);
  });
}

/** Returns the answers of a store of runs. */
export function answersOf(store: StoreUnderTest): AnswersUnderTest {
  const { runs } = store;
  let run = 0;
  let records: readonly KeyedRecord[] = [];
  return {
    async begin(given) {
      records = given;
      const rows = given.map(({ state, ...record }) => ({
        ...record,
        state: JSON.stringify(state),
      }));
      const made = newRun(rows, { digest: `run over ${given.length}, after ${run}` });
      ({ run } = await runs.join(made, () => ReadableStream.from(rows), signal));
    },
    async keep({ id, key, state }, end) {
      const writer = runs.writer({ run, signal });
      const idx = records.findIndex((record) => record.id === id);
      if ("error" in end) {
        await writer.keep({ idx, isRetryable: false, isFinal: false, ...end });
      } else {
        const kept = { state: JSON.stringify(state), evaluation: toKeptText(end.evaluation) };
        await writer.keep({ idx, key, ...kept, inputTokens: 300, costUsd: 0.25 });
      }
    },
    async read() {
      const rows = await allRows(await store.openSession(), run);
      return rows.map(({ id, evaluation, error }) =>
        evaluation === null
          ? { id, probability: null, error }
          : { id, probability: probabilityOf(evaluation), error: null },
      );
    },
    statusesOf: async (keys) => await (await store.openSession()).statusesOf(keys),
    change: ({ key }) => store.changeAnswer(key),
  };
}

function probabilityOf(evaluation: string): number {
  const { answers } = JSON.parse(evaluation) as ReturnType<typeof sampleEvaluation>;
  return answers.scam.probability;
}
