import { beforeEach, expect, test } from "vitest";
import type { RunStore } from "../../store/run-store.ts";
import { recordsNamed } from "../sample-runs.ts";
import { answerAll, load, type StoreUnderTest } from "./store-under-test.ts";

const facts = (newSince: Date | null) => ({ facts: JSON.stringify({ newSince }) });

/** Which records of a run are new. */
export function testNews(open: () => Promise<StoreUnderTest>): void {
  let runs: RunStore;
  beforeEach(async () => {
    ({ runs } = await open());
  });

  test("the ids that no whole run of the same name had are new, whatever runs of other names had", async () => {
    await load(runs, recordsNamed("a", "b"));
    await load(runs, recordsNamed("d"), { name: "other.json" });
    expect(await runs.newIds(await load(runs, recordsNamed("a", "b", "e")))).toBeNull();
    await answerAll(runs, 1);
    await answerAll(runs, 2);
    const third = await load(runs, recordsNamed("b", "c", "d"));
    const { finishedAt } = await runs.get(1);
    const news = { ids: new Set(["c", "d"]), since: finishedAt?.toISOString() };
    expect(await runs.newIds(third)).toEqual(news);
    // The same records in another order are another run, and no other records came meanwhile.
    const fourth = await load(runs, recordsNamed("d", "c", "b"));
    expect(await runs.newIds(fourth)).toEqual(news);
  });

  test("ids are new since the run before them ended last, also if that is repeated or opened again", async () => {
    const records = recordsNamed("a");
    await load(runs, records);
    await answerAll(runs, 1);
    const { finishedAt } = await load(runs, records);
    const second = await load(runs, recordsNamed("a", "b"));
    const news = { ids: new Set(["b"]), since: finishedAt?.toISOString() };
    expect(await runs.newIds(second)).toEqual(news);
    await runs.reopen(1, [0]);
    expect(await runs.newIds(await runs.get(2))).toEqual(news);
    await answerAll(runs, 2);
    const third = await load(runs, recordsNamed("a", "c"));
    expect(await runs.newIds(third)).toMatchObject({ ids: new Set(["c"]) });
    // What came before "c" is new no more, in a run that is begun after it.
    expect(await runs.newIds(await load(runs, recordsNamed("a", "b")))).toBeNull();
  });

  test("ids are new since the first end at the time that their runs name, if there is one", async () => {
    await load(runs, recordsNamed("a"));
    await answerAll(runs, 1);
    const { finishedAt } = await runs.get(1);
    await load(runs, recordsNamed("a", "b"), facts(finishedAt));
    await answerAll(runs, 2);
    const third = await load(runs, recordsNamed("a", "b", "c"), facts(finishedAt));
    const news = { ids: new Set(["b", "c"]), since: finishedAt?.toISOString() };
    expect(await runs.newIds(third)).toEqual(news);
    await answerAll(runs, 3);
    const fourth = await load(runs, recordsNamed("c", "d"), facts(new Date("2100-01-01")));
    expect(await runs.newIds(fourth)).toMatchObject({ ids: new Set(["d"]) });
  });

  test("a run without records ended when it was loaded, and ids after it are new since then", async () => {
    const empty = await load(runs, []);
    expect(empty).toMatchObject({ state: "done", finishedAt: expect.any(Date) });
    const next = await load(runs, recordsNamed("a"));
    const since = empty.finishedAt?.toISOString();
    expect(await runs.newIds(next)).toEqual({ ids: new Set(["a"]), since });
  });
}
