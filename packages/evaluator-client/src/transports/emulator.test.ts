import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { boolean, choice, score } from "../questions/kinds.ts";
import { image } from "../questions/state.ts";
import { onePixel } from "../testing/one-pixel.ts";
import { directTransport } from "./direct/direct-transport.ts";
import { gatewayTransport } from "./gateway/gateway-transport.ts";

const emulator = createEmulator({ exchanges: [] });
const { fetch } = emulator;
const transports = {
  "the contract's wire": gatewayTransport({ apiKey: "local", fetch }),
  "its successor": gatewayTransport({ apiKey: "local", fetch, wire: "decision-model" }),
  "the vendor's wire": directTransport({ apiKey: null, fetch }),
};

const request = {
  state: { from: "Acme", subject: "Your receipt", snippet: "Amount paid: $20.00" },
  questions: {
    category: choice("Which kind?", { receipt: "a payment receipt", other: "none of the above" }),
    importance: score("How important?", ["ignore: nothing to do", "critical: a deadline today"]),
    scam: boolean("Is it a scam?"),
  },
};

test("the same request gets equal answers, confidence and usage over every wire", async () => {
  const evaluations = await Promise.all(
    Object.values(transports).map((transport) => createEvaluator({ transport }).evaluate(request)),
  );
  const [first, ...others] = evaluations.map(({ answers, confidence, usage, modelId }) => ({
    answers,
    confidence,
    usage,
    modelId,
  }));
  expect(first).toMatchObject({ answers: { category: { choice: "receipt" } } });
  expect(first?.modelId).toBe("local/lexical-1");
  for (const other of others) expect(other).toEqual(first);
});

test("the same images get equal answers and usage over every wire that takes them", async () => {
  const server = createEmulator({ exchanges: [], engine: "openai" });
  const decisions = directTransport({
    apiKey: null,
    model: "a-model",
    baseUrl: "http://127.0.0.1:1",
    wire: "decisions",
    fetch: server.fetch,
  });
  const { "its successor": successor, "the vendor's wire": vendor } = transports;
  const { questions } = request;
  const state = ["Your receipt", image(onePixel), "Amount paid: $20.00"];
  const [first, ...others] = await Promise.all(
    [successor, vendor, decisions].map(async (transport) => {
      const { answers, usage } = await createEvaluator({ transport }).evaluate({
        state,
        questions,
      });
      return { answers, tokens: [usage?.inputTokens, usage?.outputTokens] };
    }),
  );
  expect(first).toMatchObject({ answers: { category: { choice: "receipt" } } });
  for (const other of others) expect(other).toEqual(first);
});

const words = [
  "receipt",
  "hello",
  "code",
  "",
  "__proto__",
  "42",
  "no",
  "scam prize",
  "Ünïcödé",
  "🙂",
];

/** A request made of the words, different for each number. */
function requestNumber(seed: number) {
  const word = (offset: number) => words[(seed * 7 + offset * 3) % words.length] ?? "";
  const options = Array.from({ length: 1 + (seed % 40) }, (_, index) => [
    `${word(index)}${index}`,
    word(index + seed),
  ]);
  const levels = Array.from({ length: 1 + (seed % 10) }, (_, index) => word(index * seed));
  return {
    state: seed % 2 === 0 ? `${word(1)} ${word(2)}` : { [word(3)]: word(4) },
    questions: Object.fromEntries([
      [word(5), choice(`6 ${word(6)}`, Object.fromEntries(options))],
      [`${word(7)} `, score(`8 ${word(8)}`, levels)],
      [`${word(9)}  `, boolean(`1 ${word(1)}`)],
    ]),
  };
}

test.each(Object.entries(transports))(
  "200 different requests over %s all pass the client's own check",
  async (_wire, transport) => {
    const evaluator = createEvaluator({ transport, limits: {} });
    const evaluations = Array.from({ length: 200 }, (_, seed) =>
      evaluator.evaluate(requestNumber(seed)),
    );
    expect(await Promise.all(evaluations)).toHaveLength(200);
  },
);
