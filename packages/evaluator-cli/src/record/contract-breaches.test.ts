import {
  booleanAnswerSchema,
  choiceAnswerSchema,
  evaluationResponseSchema,
  scoreAnswerSchema,
} from "evaluator-client";
import { loadFixtures } from "evaluator-client/replay-exchanges";
import { expect, test } from "vitest";
import { findContractBreaches } from "./compare-answer.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- each row reaches into a body of another form
type Body = any;

const exchanges = loadFixtures();

async function breachesOf(name: string, change: (body: Body) => void): Promise<string[]> {
  const exchange = exchanges.find((exchange) => exchange.name === name);
  if (exchange === undefined) throw new Error(`There is no ${name}.`);
  const body = structuredClone(exchange.response.body);
  change(body);
  const breaches = await findContractBreaches(exchange, body);
  return breaches.map(({ path, detail }) => `${path}: ${detail}`);
}

test.each(exchanges)("$name breaks nothing", async (exchange) => {
  expect(await findContractBreaches(exchange, exchange.response.body)).toEqual([]);
});

test("fields the contract does not know are no breach", async () => {
  const change = (body: Body) => (body.usage.cached = 1);
  expect(await breachesOf("gateway/three-question-types", change)).toEqual([]);
});

const gatewayChanges: [string, (body: Body) => void][] = [
  ["answers.category.type", ({ answers }) => (answers.category.type = "refusal")],
  ["answers.category.choice", ({ answers }) => (answers.category.choice = 1)],
  ["answers.category.probabilities", ({ answers }) => delete answers.category.probabilities],
  ["answers.importance.score", ({ answers }) => (answers.importance.score = "0.38")],
  ["answers.scam.probability", ({ answers }) => (answers.scam.probability = 1.01)],
  ["answers", (body) => delete body.answers],
  ["rounding.scoreDecimals", ({ rounding }) => (rounding.scoreDecimals = "2")],
  ["usage.inputTokens", ({ usage }) => (usage.inputTokens = "292")],
  ["usage.outputTokens", ({ usage }) => (usage.outputTokens = 6.9)],
  ["warnings", (body) => (body.warnings = "none")],
];

test.each(gatewayChanges)(
  "a gateway body with a wrong %s breaks the contract",
  async (path, change) => {
    const [breach] = await breachesOf("gateway/three-question-types", change);
    expect(breach).toContain(`response.body.${path}: `);
  },
);

test.each(["marketCost", "generationId", "routing"])(
  "a gateway body without %s breaks the contract, though the client does not need it",
  async (name) => {
    const change = (body: Body) => delete body.providerMetadata.gateway[name];
    const [breach] = await breachesOf("gateway/three-question-types", change);
    expect(breach).toContain(`response.body.providerMetadata.gateway.${name}: `);
  },
);

test.each(gatewayChanges)("the client's own schema refuses a wrong %s too", (_path, change) => {
  const body: Body = exchanges.find(({ name }) => name === "gateway/three-question-types")?.response
    .body;
  expect(evaluationResponseSchema.safeParse(body).error).toBeUndefined();
  const changed = structuredClone(body);
  change(changed);
  const { category, importance, scam } = changed.answers ?? {};
  const isAccepted = [
    evaluationResponseSchema.safeParse(changed),
    choiceAnswerSchema.safeParse(category),
    scoreAnswerSchema.safeParse(importance),
    booleanAnswerSchema.safeParse(scam),
  ].every(({ success }) => success);
  expect(isAccepted).toBe(false);
});

test.each<[string, string, (body: Body) => void]>([
  ["a missing answer", "answers.scam: ", ({ answers }) => delete answers.scam],
  ["an answer nobody asked for", "answers: ", ({ answers }) => (answers["a name of theirs"] = {})],
  [
    "a whole answer nobody asked for",
    "answers: breaks the rule answer-ids",
    ({ answers }) => (answers["a name of theirs"] = answers.scam),
  ],
  [
    "an option nobody offered",
    "answers.category.probabilities: ",
    ({ answers }) => (answers.category.probabilities["a name of theirs"] = "much"),
  ],
  [
    "an unknown option",
    "answers.category: breaks the rule choice-option",
    ({ answers }) => (answers.category.choice = "spam"),
  ],
  [
    "a choice that another option beats",
    "answers.category: breaks the rule choice-highest",
    ({ answers }) => (answers.category.choice = "other"),
  ],
  [
    "a sum beyond rounding",
    "answers.category: breaks the rule probabilities-sum",
    ({ answers }) => (answers.category.probabilities.other = 0.2),
  ],
  [
    "a missing level",
    "answers.importance: breaks the rule probabilities-keys",
    ({ answers }) => delete answers.importance.probabilities["1"],
  ],
  [
    "a score that is not the mean",
    "answers.importance: breaks the rule score-mean",
    ({ answers }) => (answers.importance.score = 0.9),
  ],
])("%s breaks the contract", async (_name, expected, change) => {
  const breaches = await breachesOf("gateway/three-question-types", change);
  expect(breaches.join("\n")).toContain(`response.body.${expected}`);
  expect(breaches.join("\n")).not.toContain("theirs");
});

// Half a hundredth for each printed value: two options may be 0.01 from 1, and no more.
test.each([
  ["gateway/three-question-types", { receipt: 0.99, other: 0 }, []],
  ["gateway/three-question-types", { receipt: 0.98, other: 0 }, ["probabilities-sum"]],
  ["direct/three-question-types", { receipt: 0.99, other: 0 }, []],
  ["direct/three-question-types", { receipt: 0.98, other: 0 }, ["probabilities-sum"]],
])("in %s, %j breaks %j", async (name, probabilities, rules) => {
  const change = ({ answers }: Body) => {
    answers.category.choice = "receipt";
    answers.category.probabilities = probabilities;
  };
  const breaches = rules.map((rule) => `response.body.answers.category: breaks the rule ${rule}`);
  expect(await breachesOf(name, change)).toEqual(breaches);
});

test.each<[string, (body: Body) => void]>([
  ["answers.scam", ({ answers }) => (answers.scam = { type: "noul", probability: 0.1 })],
  ["answers.scam", ({ answers }) => (answers.scam = { type: "boolean", noul: 0.1 })],
])("a direct body with a wrong %s breaks the contract", async (path, change) => {
  const breaches = await breachesOf("direct/three-question-types", change);
  expect(breaches.join("\n")).toContain(`response.body.${path}: `);
});

test("usage as the gateway counts it breaks the vendor's contract, at the place that the client names", async () => {
  const change = (body: Body) => (body.usage = { inputTokens: 1, outputTokens: 1 });
  const [breach] = await breachesOf("direct/three-question-types", change);
  expect(breach).toMatch(/^response\.body: .* at usage\.input_tokens;/);
});

test.each([
  [1.5, "at usage.outputTokens ("],
  [null, "at usage.output_tokens;"],
])("%s output tokens break the vendor's contract", async (tokens, place) => {
  const change = (body: Body) => (body.usage.output_tokens = tokens);
  expect((await breachesOf("direct/three-question-types", change)).join()).toContain(place);
});
