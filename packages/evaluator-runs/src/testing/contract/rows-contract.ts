import { beforeEach, expect, test } from "vitest";
import type { StoredRuns } from "../../store/stored-runs.ts";
import { sampleEvaluation } from "../samples.ts";
import { type AnswersUnderTest, type KeyedRecord, recordsAbout } from "./answers-under-test.ts";

/** More than a store reads at once. */
const many = recordsAbout(...Array.from({ length: 1200 }, (_, index) => `m-${index}`));

/** How the records of a run are read, whatever keeps them. */
export function testRows(openAnswers: () => Promise<AnswersUnderTest>): void {
  let store: AnswersUnderTest;
  beforeEach(async () => void (store = await openAnswers()));

  const rows = async () =>
    await store.read(async (runs) => {
      const read = [];
      for await (const { id, error } of newestRows(runs)) read.push({ id, error });
      return read;
    });

  test("ids, states and failures are read as they were kept, whatever their text is made of", async () => {
    const records = recordsAbout("line\nbreak", "back\\slash\\n", "\u0000", "\\N", "ä🙂");
    await store.begin(records);
    const [, failed, ...answered] = records as [KeyedRecord, KeyedRecord, ...KeyedRecord[]];
    await store.keep(failed, { error: "Half\ta \\pair" });
    for (const record of answered) await store.keep(record, { evaluation: sampleEvaluation() });
    expect((await rows()).map(({ id }) => id)).toEqual(records.map(({ id }) => id));
    expect((await rows())[1]).toMatchObject({ error: "Half\ta \\pair" });
    for (const { id, state } of answered) {
      const found = await store.read((runs) => runs.find(id));
      expect([found?.id, JSON.parse(found?.state ?? "")]).toEqual([id, state]);
    }
  });

  test("rows are from one snapshot, also if an answer is kept meanwhile", async () => {
    await store.begin(many);
    const last = many.at(-1) as KeyedRecord;
    const kept = await store.read(async (runs) => {
      const keeping: Promise<void>[] = [];
      for await (const { evaluation } of newestRows(runs)) {
        expect(evaluation).toBeNull();
        if (keeping.length > 0) continue;
        keeping.push(store.keep(last, { evaluation: sampleEvaluation() }));
        // A store with one session commits after the last row.
        if (store.isConcurrent) await Promise.all(keeping);
      }
      return keeping;
    });
    await Promise.all(kept);
    expect(await store.statusesOf([last.key])).toEqual(["answered"]);
  });

  test("a reader that leaves in the middle does not disturb others", async () => {
    await store.begin(many);
    for (let time = 0; time < 12; time += 1)
      await store.read(async (runs) => {
        for await (const { id } of newestRows(runs)) if (id === "m-10") break;
      });
    expect((await rows()).map(({ id }) => id)).toEqual(many.map(({ id }) => id));
  });
}

async function* newestRows(runs: StoredRuns) {
  const { run = 0 } = (await runs.list()).at(-1) ?? {};
  yield* runs.rows(run);
}
