import { expect, test } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { ConnectionError } from "./errors.ts";
import { imagesAsBytes } from "./questions/state.ts";
import { countingTransport } from "./testing/counting-transport.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import type { EvaluationRequest } from "./questions/request.ts";
import type { AttemptContext } from "./transports/transport.ts";

/** An evaluator whose first attempt fails; after it, `change` is called. `seen` has what each attempt sends. */
function failingOnce(change: () => void) {
  const seen: string[] = [];
  const { transport } = countingTransport();
  const send = async (request: EvaluationRequest, context: AttemptContext) => {
    seen.push(JSON.stringify({ ...request, headers: context.headers }));
    if (seen.length > 1) return await transport.send(request, context);
    change();
    throw new ConnectionError("Cut off.", { isRetryable: true, maybeBilled: true });
  };
  const clock = new ManualClock();
  const flaky = { ...transport, send, images: imagesAsBytes };
  return { seen, clock, evaluator: createEvaluator({ transport: flaky }, { clock }) };
}

function scam() {
  return { scam: { type: "boolean" as const, instructions: "Scam?", criteria: { true: "a lie" } } };
}

test.each<[string, () => { state: object; change: () => void }]>([
  [
    "a field",
    () => {
      const state = { text: "ham" };
      return { state, change: () => (state.text = "spam") };
    },
  ],
  [
    "a field of a field",
    () => {
      const state = { mail: { lines: ["ham", { words: 3 }] as [string, { words: number }] } };
      return { state, change: () => (state.mail.lines[1].words = 4) };
    },
  ],
  [
    "a list",
    () => {
      const state = { lines: ["ham"] };
      return { state, change: () => state.lines.push("spam") };
    },
  ],
  [
    "a key named __proto__",
    () => {
      const state = JSON.parse('{"__proto__":{"text":"ham"},"a":[{}]}') as object;
      const own = Object.values(state)[0] as Record<string, string>;
      return { state, change: () => (own["text"] = "spam") };
    },
  ],
  [
    "what a getter returns",
    () => {
      let text = "ham";
      const state = {
        get text() {
          return text;
        },
      };
      return { state, change: () => (text = "spam") };
    },
  ],
  [
    "a part",
    () => {
      const part = { json: { text: "ham" } };
      const picture = { image: "data:image/png;base64,AAAA" };
      const change = () => {
        part.json.text = "spam";
        picture.image = "data:image/png;base64,BBBB";
      };
      return { state: ["The mail", part, picture], change };
    },
  ],
])("a retry sends the state as it was, if later %s is another", async (_, make) => {
  const { state, change } = make();
  const { seen, clock, evaluator } = failingOnce(change);
  const before = JSON.stringify({ state, questions: scam() });
  const asked = evaluator.evaluate({ state: state as never, questions: scam() });
  await clock.advance(10_000);
  await asked;
  expect(seen).toEqual([before, before]);
  expect(JSON.stringify({ state, questions: scam() })).not.toBe(before);
});

test.each([1, 2, 3])(
  "a retry sends the questions as they were, also in round %d",
  async (round) => {
    const questions = scam();
    for (let before = 1; before < round; before += 1) {
      const { transport } = countingTransport();
      await createEvaluator({ transport }).evaluate({ state: "ham", questions });
    }
    const { seen, clock, evaluator } = failingOnce(() => {
      questions.scam.instructions = "Ham?";
      questions.scam.criteria.true = "the truth";
    });
    const asked = evaluator.evaluate({ state: "ham", questions });
    await clock.advance(10_000);
    await asked;
    const expected = JSON.stringify({ state: "ham", questions: scam() });
    expect(seen).toEqual([expected, expected]);
  },
);

test("a retry sends the headers of the call as they were", async () => {
  const headers: Record<string, string> = { "x-tenant": "one" };
  const { seen, clock, evaluator } = failingOnce(() => (headers["x-tenant"] = "two"));
  const asked = evaluator.evaluate({ state: "ham", questions: scam() }, { headers });
  await clock.advance(10_000);
  await asked;
  const one = { headers: { "x-tenant": "one" } };
  expect(seen.map((sent) => JSON.parse(sent))).toMatchObject([one, one]);
});

const texts = ["ham", "spam", "eggs", "beans", "toast"];

function* reusedRows() {
  const state = { text: "", words: { count: 0 } };
  for (const [index, text] of texts.entries()) {
    Object.assign(state, { text });
    state.words.count = index;
    yield { state, questions: scam() };
  }
}

async function* reusedAsyncRows() {
  yield* reusedRows();
}

test.each<[string, () => Iterable<unknown> | AsyncIterable<unknown>]>([
  ["a generator", reusedRows],
  ["an async generator", reusedAsyncRows],
])("each request of %s is asked, if it uses one object for all", async (_, rows) => {
  const { transport, states } = countingTransport();
  const evaluator = createEvaluator({ transport });
  const requests = rows() as ReturnType<typeof reusedRows>;
  for await (const { status } of evaluator.evaluateMany(requests)) expect(status).toBe("succeeded");
  const expected = texts.map((text, index) => ({ text, words: { count: index } }));
  expect(states).toEqual(expected);
});

test("the options of a batch are those at its call", async () => {
  const { transport, states } = countingTransport({ answer: () => new Promise(() => undefined) });
  const controller = new AbortController();
  const options = { concurrency: 2, signal: controller.signal };
  const batch = createEvaluator({ transport }).evaluateMany(reusedRows(), options);
  options.concurrency = 5;
  const first = batch.next();
  await new ManualClock().advance(1);
  expect(states).toHaveLength(2);
  controller.abort("enough");
  await expect(first).rejects.toBe("enough");
});
