import { assert, nat, oneof, property, string, uniqueArray } from "fast-check";
import { expect, test, vi } from "vitest";
import { estimateCost } from "../catalog/estimate-cost.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { type GatewayWire, gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { boolean, choice, type Questions, truthsOf, valuesOf } from "./kinds.ts";
import { requestParser } from "./request.ts";

const months = choice("Which month?", [
  ["3", "March"],
  ["x", "another"],
  ["10", "October"],
  ["1", "January"],
]);
const inOrder = '"3":"March","x":"another","10":"October","1":"January"';

/** Returns the texts of two bodies that a transport sends for these questions. */
async function bodiesOf(
  make: (
    fetch: (url: string, init: RequestInit) => Promise<Response>,
  ) => ReturnType<typeof gatewayTransport>,
  questions: Questions,
): Promise<string[]> {
  const bodies: string[] = [];
  const transport = make(async (_, { body }) => {
    bodies.push(body as string);
    return Response.json({}, { status: 400 });
  });
  const evaluator = createEvaluator({ transport });
  for (const _ of [1, 2, 3]) {
    await evaluator.evaluate({ state: "text", questions }).catch(() => undefined);
  }
  return bodies;
}

test.each<GatewayWire>(["evaluation-model", "decision-model"])(
  "a list of options reaches the gateway in its order, over %s",
  async (wire) => {
    const bodies = await bodiesOf((fetch) => gatewayTransport({ apiKey: "k", wire, fetch }), {
      months,
    });
    expect(bodies).toHaveLength(3);
    for (const body of bodies) expect(body).toContain(`"criteria":{${inOrder}}`);
  },
);

test("a list of options reaches the vendor in its order", async () => {
  const bodies = await bodiesOf((fetch) => directTransport({ apiKey: null, fetch }), { months });
  for (const body of bodies) expect(body).toContain(inOrder);
});

const baseUrl = "http://127.0.0.1:1";

test("a list of options reaches /v1/decisions in its order", async () => {
  const make = (fetch: never) =>
    directTransport({ apiKey: null, wire: "decisions", model: "m", baseUrl, fetch });
  const bodies = await bodiesOf(make as never, { months });
  for (const body of bodies) {
    const places = ["March", "another", "October", "January"].map((text) => body.indexOf(text));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(Math.min(...places)).toBeGreaterThan(0);
  }
});

test("any list keeps its order in the question, its JSON, its copies and its values", () => {
  const names = uniqueArray(oneof(nat(50).map(String), string()), {
    minLength: 1,
    maxLength: 9,
  });
  assert(
    property(names, (keys) => {
      const question = choice("Which?", keys.map((key) => [key, `the ${key}`] as const) as never);
      expect(Object.keys(question.criteria)).toEqual(keys);
      const parse = requestParser();
      for (const _ of [1, 2, 3]) {
        const { questions } = parse({ state: "text", questions: { question } });
        const { criteria = {} } = questions["question"] ?? {};
        expect(Object.entries(criteria)).toEqual(keys.map((key) => [key, `the ${key}`]));
      }
      const json = keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(`the ${key}`)}`);
      expect(JSON.stringify(question)).toContain(`{${json.join()}}`);
    }),
  );
  const answer = {
    type: "choice",
    choice: "3",
    probabilities: { "1": 0, "3": 1, "10": 0, x: 0 },
  } as const;
  expect(valuesOf(months, answer)).toMatchObject([{ keys: ["3", "x", "10", "1"] }, {}]);
});

test.each<[string, Questions, string[]]>([
  [
    "options that look like integers",
    { month: choice("Which?", { 3: "March", 1: "January" }) },
    ["1"],
  ],
  ["one of them among others", { month: choice("Which?", { x: "no", 10: "October" }) }, ["10"]],
  ["ids that look like integers", { 2: boolean("two?"), 1: boolean("one?") }, ["1"]],
  ["a list of them", { months }, []],
  ["a single one", { 7: choice("Which?", { 3: "March" }) }, []],
  ["names that do not", { a: choice("Which?", { "03": "March", "1.5": "no", "-1": "no" }) }, []],
])("warns once of %s", (_, questions, names) => {
  const emitWarning = vi.spyOn(process, "emitWarning").mockReturnValue();
  const parse = requestParser();
  // Estimates before the first call change nothing.
  const requests = Array.from({ length: 3 }, () => ({ state: "text", questions }));
  estimateCost(requests, { inputUsdPerMillionTokens: 1 });
  for (const request of requests) parse(request);
  const named = emitWarning.mock.calls.map(
    ([message]) => /"([^"]*)" looks/.exec(String(message))?.[1],
  );
  expect(named).toEqual(names);
});

/** The quick start of the vendor's SDK, whose options have no descriptions. */
const ticket = choice("What is this ticket about?", {
  billing: null,
  technical: null,
  other: null,
});

test("options without descriptions are sent as each wire takes them", async () => {
  const questions = { ticket };
  const vendor = await bodiesOf((fetch) => directTransport({ apiKey: null, fetch }), questions);
  expect(vendor[0]).toContain('"criteria":{"billing":null,"technical":null,"other":null}');
  const atGateway = (wire: GatewayWire) =>
    bodiesOf((fetch) => gatewayTransport({ apiKey: "k", wire, fetch }), questions);
  const contract = '"criteria":{"billing":"","technical":"","other":""}';
  expect((await atGateway("evaluation-model")).every((body) => body.includes(contract))).toBe(true);
  expect((await atGateway("decision-model"))[0]).toContain('{"billing":null,');
  const make = (fetch: never) =>
    directTransport({ apiKey: null, wire: "decisions", model: "m", baseUrl, fetch });
  const [listed] = await bodiesOf(make as never, questions);
  expect(listed).toContain(
    '"choices":[{"value":"billing"},{"value":"technical"},{"value":"other"}]',
  );
  expect(truthsOf(ticket)?.[0]).toEqual({ truth: "billing", name: "billing", description: "" });
});

test.each<[string, unknown]>([
  [
    "already in it",
    [
      ["a", "A"],
      ["a", "B"],
    ],
  ],
  ["no pair", [["a", "A"], "b"]],
  ["no pair", [["a"]]],
  ["no pair", [[1, "A"]]],
])("rejects a list with an item that is %s", (problem, list) => {
  expect(() => choice("Which?", list as never)).toThrow(problem);
});
