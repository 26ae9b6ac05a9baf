import { beforeEach, expect, test } from "vitest";
import { sampleEvaluation } from "../samples.ts";
import { type AnswersUnderTest, type KeyedRecord, recordsAbout } from "./answers-under-test.ts";

const [first, second, third, fourth] = recordsAbout("m-1", 'tab\t "two"\n', "ä🙂", "m-4") as [
  KeyedRecord,
  KeyedRecord,
  KeyedRecord,
  KeyedRecord,
];
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

  const rows = async (isOrdered = true) =>
    await store.read(async (runs) => {
      const ends = [];
      const { run = 0 } = (await runs.list()).at(-1) ?? {};
      for await (const { id, evaluation, error } of runs.rows(run, isOrdered))
        ends.push(
          evaluation === null
            ? { id, probability: null, error }
            : { id, probability: probabilityOf(evaluation), error: null },
        );
      return ends;
    });
  const ends = async () => {
    const read = await rows();
    expect(read.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    return read.map(({ probability, error }) => ({ probability, error }));
  };
  const endAll = async () => {
    for (const record of all.slice(1))
      await store.keep(record, { evaluation: sampleEvaluation(0.25) });
    await store.keep(first, { error: "It failed." });
    await store.finish();
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
    const read = await rows();
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
    await store.begin(all);
    expect(await ends()).toEqual([open, open, { probability: 0.5, error: null }]);
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

  test("runs are listed, the oldest first, with their counts and their ends", async () => {
    const runs = async () => await store.read((read) => read.list());
    expect(await runs()).toMatchObject([
      { run: 1, state: "open", records: 3, finishedAt: null, stoppedBy: null },
    ]);
    await endAll();
    const done = { run: 1, state: "done", records: 3, answered: 2, asked: 2, failed: 1 };
    expect(await runs()).toMatchObject([{ ...done, finishedAt: expect.any(Date) }]);
    await store.begin([...all, fourth]);
    expect(await runs()).toMatchObject([done, { run: 2, state: "open", records: 4 }]);
    expect(await store.read((read) => read.get(1))).toMatchObject(done);
    await expect(store.read((read) => read.get(7))).rejects.toThrow("There is no run 7 in ");
  });

  test("rows that need no order are the same rows", async () => {
    await endAll();
    const byId = (read: Awaited<ReturnType<typeof rows>>) =>
      new Map(read.map((row) => [row.id, row]));
    expect(byId(await rows(false))).toEqual(byId(await rows()));
  });

  test("a record is found with its answer or its failure, of the run that had it last", async () => {
    await endAll();
    await store.begin([first, second]);
    const found = async (id: string) => await store.read((read) => read.find(id));
    expect(await found(third.id)).toMatchObject({ run: 1, id: third.id, isChanged: false });
    expect(await found(second.id)).toMatchObject({ run: 2, evaluation: expect.any(String) });
    expect(await found("nobody")).toBeNull();
    await store.change(second);
    expect(await found(second.id)).toMatchObject({ evaluation: null, isChanged: true });
  });

  test("an earlier run keeps its records, their answers and their failures", async () => {
    await endAll();
    await store.begin([second, fourth]);
    await store.keep(second, { error: "It failed again." });
    await store.keep(fourth, { evaluation: sampleEvaluation(0.75) });
    await store.finish();
    await store.begin([fourth, first]);
    await store.keep(first, { evaluation: sampleEvaluation(0.75) });
    const earlier = await store.read(async (runs) => {
      const ends = [];
      for (const [run, isOrdered] of [[1], [1, false], [2]] as const) {
        const rows = new Map<string, unknown>();
        for await (const { id, evaluation, error } of runs.rows(run, isOrdered))
          rows.set(id, evaluation === null ? error : probabilityOf(evaluation));
        ends.push(rows);
      }
      return ends;
    });
    const before = new Map<string, unknown>([
      [first.id, "It failed."],
      [second.id, 0.25],
      [third.id, 0.25],
    ]);
    expect(earlier).toEqual([
      before,
      before,
      new Map<string, unknown>([
        [second.id, 0.25],
        [fourth.id, 0.75],
      ]),
    ]);
  });

  test("a record is found in one run, if that has it", async () => {
    await endAll();
    await store.begin([fourth, first]);
    await store.keep(first, { evaluation: sampleEvaluation(0.75) });
    await store.keep(fourth, { error: "It failed." });
    await store.finish();
    await store.begin(all);
    const found = async (id: string, run: number) => await store.read((runs) => runs.find(id, run));
    expect(await found(second.id, 1)).toMatchObject({ run: 1, evaluation: expect.any(String) });
    expect(await found(second.id, 2)).toBeNull();
    const failed = { run: 1, evaluation: null, error: "It failed." };
    expect(await found(first.id, 1)).toMatchObject(failed);
    expect(await found(fourth.id, 2)).toMatchObject({ run: 2, error: "It failed." });
    expect(await found(fourth.id, 1)).toBeNull();
    expect(await found(third.id, 3)).toMatchObject({ run: 3, evaluation: expect.any(String) });
  });

  test("records are put away until a day, or taken back", async () => {
    const away = async () => await store.read((runs) => runs.away("inbox.json"));
    expect(await away()).toEqual(new Map());
    await store.putAway([first.id, second.id], "2026-12-01");
    await store.putAway([first.id], "");
    expect(await away()).toEqual(
      new Map([
        [first.id, ""],
        [second.id, "2026-12-01"],
      ]),
    );
  });

  test("the records that no complete run had are new since the last one", async () => {
    await endAll();
    await store.begin([...all, fourth]);
    const news = await store.read(async (runs) => {
      const [before, info] = await runs.list();
      if (info === undefined) throw new Error("There is no second run.");
      return { news: await runs.newIds(info), since: before?.finishedAt?.toISOString() };
    });
    expect(news.news).toEqual({ ids: new Set([fourth.id]), since: news.since });
  });
}

function probabilityOf(evaluation: string): number {
  const { answers } = JSON.parse(evaluation) as ReturnType<typeof sampleEvaluation>;
  return answers.scam.probability;
}
