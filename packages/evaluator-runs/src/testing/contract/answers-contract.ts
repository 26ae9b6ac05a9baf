import { beforeEach, expect, test } from "vitest";
import { CHUNK_SIZE, type RunStore } from "../../store/run-store.ts";
import {
  answerTo,
  countedTo,
  failure,
  keyOf,
  recordsNamed,
  type SampleRecord,
} from "../sample-runs.ts";
import { allRows, load, signal, type StoreUnderTest, takeChunk } from "./store-under-test.ts";

/** How answers, failures and refusals are kept and read. */
export function testAnswers(open: () => Promise<StoreUnderTest>): void {
  let store: StoreUnderTest;
  let runs: RunStore;
  beforeEach(async () => {
    store = await open();
    ({ runs } = store);
  });

  test("gives the records back in order, whatever their text is made of", async () => {
    const texts = ["tab\t", "line\nbreak", "back\\slash\\n", "\u0000", "\uD800", "\\N", "", "ä🙂"];
    const records = recordsNamed(...texts);
    await load(
      runs,
      records.map((record, at) => (at === 1 ? { ...record, note: '{"from":1}' } : record)),
    );
    const writer = runs.writer({ run: 1, signal });
    const evaluation = JSON.stringify({ text: texts });
    await writer.keep(answerTo(records[2] as SampleRecord, evaluation));
    await writer.keep({ ...failure, idx: 4, error: "Half\ta \\pair" });
    const rows = await allRows(runs, 1);
    expect(rows.map(({ idx }) => idx)).toEqual([...texts.keys()]);
    expect(rows.map(({ id }) => id)).toEqual(texts);
    expect(rows.map(({ state }) => state)).toEqual(records.map(({ state }) => state));
    expect(rows[1]).toMatchObject({ note: '{"from":1}', evaluation: null, error: null });
    expect(rows[2]).toMatchObject({ note: null, evaluation, isChanged: false, error: null });
    expect(rows[4]).toMatchObject({ evaluation: null, error: "Half\ta \\pair" });
    expect(await runs.find("\u0000")).toMatchObject({ run: 1, idx: 3 });
    expect(await runs.find("nobody")).toBeNull();
  });

  test("a record is found in the newest run that has it, or in one run", async () => {
    await load(runs, recordsNamed("a", "b"));
    await load(runs, recordsNamed("c", "a"));
    expect(await runs.find("a")).toMatchObject({ run: 2, idx: 1, key: keyOf("a") });
    expect(await runs.find("a", 1)).toMatchObject({ run: 1, idx: 0 });
    expect(await runs.find("b")).toMatchObject({ run: 1, idx: 1 });
    expect(await runs.find("b", 2)).toBeNull();
  });

  test("another session sees an answer as soon as it is kept", async () => {
    const records = recordsNamed("a", "b");
    await load(runs, records);
    const other = await store.openSession();
    await runs.writer({ run: 1, signal }).keep(answerTo(records[0] as SampleRecord));
    expect(await other.statusesOf(records.map(({ key }) => key))).toEqual(["answered", "unknown"]);
    expect(await other.get(1)).toMatchObject({ answered: 0, asked: 0 });
    await takeChunk(runs, 1);
    expect(await other.get(1)).toMatchObject({ answered: 1, asked: 1, costUsd: 0.25 });
  });

  test("of two answers to the same call the first is kept", async () => {
    const [record] = recordsNamed("a");
    await load(runs, [record as SampleRecord]);
    const writer = runs.writer({ run: 1, signal });
    await writer.keep(answerTo(record as SampleRecord, "1"));
    const { idx: _, ...unnumbered } = answerTo(record as SampleRecord, "2");
    await writer.keep(unnumbered);
    expect(await allRows(runs, 1)).toMatchObject([{ evaluation: "1", isChanged: false }]);
  });

  test("of answers to the same call that come at once one is kept, and each is reported", async () => {
    const [record] = recordsNamed("a");
    await load(runs, [record as SampleRecord]);
    const writer = runs.writer({ run: 1, signal });
    const texts = ['{"answer":1}', '{"answer":2}'];
    await Promise.all(texts.map((text) => writer.keep(answerTo(record as SampleRecord, text))));
    const [row] = await allRows(runs, 1);
    expect(texts).toContain(row?.evaluation);
  });

  test("sessions that keep the same answers at once keep each once", async () => {
    const records = countedTo(50);
    await load(runs, records);
    const sessions = [runs, await store.openSession(), await store.openSession()];
    await Promise.all(
      sessions.map(async (session, at) => {
        const writer = session.writer({ run: 1, signal });
        const kept = at === 1 ? records.toReversed() : records;
        await Promise.all(kept.map((record) => writer.keep(answerTo(record, `"by ${at}"`))));
      }),
    );
    const rows = await allRows(runs, 1);
    expect(rows.filter(({ evaluation }) => evaluation?.startsWith('"by '))).toHaveLength(50);
    await takeChunk(runs, 1);
    expect(await runs.get(1)).toMatchObject({ answered: 50, asked: 50, costUsd: 12.5 });
  });

  test("a changed answer is none, and is asked for again; an answer about another state is none", async () => {
    const records = recordsNamed("a", "b", "c");
    await load(runs, records);
    const writer = runs.writer({ run: 1, signal });
    await Promise.all(records.map((record) => writer.keep(answerTo(record))));
    await store.changeAnswer(keyOf("b"));
    await store.changeState(1, 2);
    const keys = [...records.map(({ key }) => key), "no key"];
    expect(await runs.statusesOf(keys)).toEqual(["answered", "changed", "answered", "unknown"]);
    const rows = await allRows(runs, 1);
    expect(rows.map(({ isChanged }) => isChanged)).toEqual([false, true, true]);
    expect(rows[1]?.evaluation).toBeNull();
    const { missing } = await runs.readChunk(await takeChunk(runs, 1));
    expect(missing.map(({ id }) => id)).toEqual(["b", "c"]);
    expect(await runs.statusesOf([keyOf("b")])).toEqual(["unknown"]);
  });

  test("a refusal is kept for this run and later ones; other failures only until the run is opened again", async () => {
    const records = recordsNamed("a", "b", "c");
    await load(runs, records);
    const writer = runs.writer({ run: 1, signal });
    const refusal = {
      idx: 1,
      error: "It is too long.",
      isRetryable: false,
      isFinal: false,
      isRefusal: true,
    };
    await Promise.all([writer.keep(refusal), writer.keep({ ...failure, idx: 2 })]);
    expect(await runs.refused(1)).toEqual(new Set([1]));
    const keys = records.map(({ key }) => key);
    expect(await runs.statusesOf(keys)).toEqual(["unknown", "refused", "unknown"]);
    await runs.stop(1, "It is late.");
    await load(runs, records);
    expect(await allRows(runs, 1)).toMatchObject([
      { error: null },
      { error: "It is too long." },
      { error: null },
    ]);
    await load(runs, records, { digest: "other" });
    expect(await runs.refused(2)).toEqual(new Set([1]));
    const { missing } = await runs.readChunk(await takeChunk(runs, 2));
    expect(missing.map(({ id }) => id)).toEqual(["a", "c"]);
    await runs.writer({ run: 1, signal }).keep(answerTo(records[1] as SampleRecord));
    expect(await runs.statusesOf(keys)).toEqual(["unknown", "answered", "unknown"]);
  });

  test("a run that is joined again does not ask what another run was refused meanwhile", async () => {
    const records = recordsNamed("a", "b");
    await load(runs, records);
    await load(runs, records, { digest: "other" });
    const refusal = { ...failure, idx: 1, error: "It is too long.", isRetryable: false };
    await runs.writer({ run: 2, signal }).keep({ ...refusal, isRefusal: true });
    expect(await runs.refused(1)).toEqual(new Set());
    await load(runs, records);
    expect(await runs.refused(1)).toEqual(new Set([1]));
    const { missing } = await runs.readChunk(await takeChunk(runs, 1));
    expect(missing.map(({ id }) => id)).toEqual(["a"]);
  });

  test("a failure before an answer is no failure once the answer is there", async () => {
    const records = recordsNamed("a", "b");
    await load(runs, records);
    const writer = runs.writer({ run: 1, signal });
    const chunk = await takeChunk(runs, 1);
    await writer.keep({ ...failure, idx: 0 });
    await writer.keep({ ...failure, idx: 0, error: "It is down again." });
    expect(await allRows(runs, 1)).toMatchObject([{ error: "It is down again." }, { error: null }]);
    await Promise.all(records.map((record) => writer.keep(answerTo(record))));
    expect(await runs.finish(chunk, 0)).toBe(true);
    expect(await runs.get(1)).toMatchObject({ state: "done", answered: 2, failed: 0 });
  });

  test("an answer after a failure counts, also if it comes when the chunk is finished", async () => {
    const records = countedTo(2 * CHUNK_SIZE + 1);
    await load(runs, records, { maxCostUsd: 60 });
    const writer = runs.writer({ run: 1, signal });
    const [first, second] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    const last = await takeChunk(runs, 1);
    const [failed, ...others] = records.slice(0, -1);
    await writer.keep({ ...failure, idx: 0 });
    await Promise.all(others.map((record) => writer.keep(answerTo(record))));
    for (const chunk of [first, second]) expect(await runs.finish(chunk, 0)).toBe(true);
    expect(await runs.get(1)).toMatchObject({ answered: 199, failed: 1, costUsd: 49.75 });
    await writer.keep(answerTo(records.at(-1) as SampleRecord));
    expect(await runs.finish(last, 0)).toBe(true);
    const { finishedAt } = await runs.get(1);
    const late = (await store.openSession()).writer({ run: 1, signal });
    await late.keep(answerTo(failed as SampleRecord));
    const end = { state: "done", answered: 201, asked: 201, failed: 0, finishedAt };
    expect(await runs.get(1)).toMatchObject({ ...end, inputTokens: 60_300, costUsd: 50.25 });
    // Its first chunk has no failure any more.
    await load(runs, records);
    expect(await runs.get(1)).toMatchObject({ ...end, finishedAt: expect.any(Date) });
    // The run may spend less.
    await runs.reopen(1, [2 * CHUNK_SIZE]);
    expect(await runs.reserve(await takeChunk(runs, 1), 100)).toBe(10);
  });
}
