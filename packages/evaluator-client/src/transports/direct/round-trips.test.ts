import { createEmulator } from "evaluator-emulator/fetch";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { boolean, choice, score } from "../../questions/kinds.ts";
import { serviceFixtures } from "../../testing/service-fixtures.ts";
import { directTransport } from "./direct-transport.ts";
import { serviceRows, services } from "./services.ts";

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const text = words.filter((word) => /\w/.test(word) && word === word.trim());
const name = text;
const question = fc.oneof(
  text.map((asked) => boolean(asked)),
  fc
    .tuple(text, fc.dictionary(name, text, { minKeys: 2, maxKeys: 6, noNullPrototype: true }))
    .map(([asked, criteria]) => choice(asked, criteria)),
  fc
    .tuple(text, fc.array(text, { minLength: 2, maxLength: 6 }))
    .map(([asked, criteria]) => score(asked, criteria)),
);
const request = fc.record({
  // The word matcher of the emulator reads JSON as text in another way than JSON.
  state: text,
  questions: fc.dictionary(text, question, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
});

// A thousand evaluations in each form.
test.each(services)(
  "random evaluations by %s have the answers of another form",
  async (service) => {
    const { decimals = 15 } = serviceFixtures[service];
    const ofForm = services.filter((name) => serviceRows[name].wire === serviceRows[service].wire);
    const numRuns = Math.ceil(1000 / ofForm.length);
    const { fetch } = createEmulator({ exchanges: [] });
    const server = { apiKey: "any", accountId: "a", baseUrl: "http://emulator", fetch, env: {} };
    const model = serviceRows[service].model === null ? { model: "any" } : {};
    const limits = {};
    const asked = createEvaluator({
      transport: directTransport({ ...server, ...model, service }),
      limits,
    });
    const other = service === "perplexity" ? "openai" : "perplexity";
    const exact = createEvaluator({
      transport: directTransport({ ...server, service: other }),
      limits,
    });
    await fc.assert(
      fc.asyncProperty(request, async (given) => {
        const [evaluation, wanted] = [await asked.evaluate(given), await exact.evaluate(given)];
        expect(shapeOf(evaluation.answers)).toEqual(shapeOf(wanted.answers));
        const pairs = numbersIn(evaluation.answers).map((one, index) => {
          return Math.abs(one - (numbersIn(wanted.answers)[index] ?? Number.NaN));
        });
        expect(Math.max(...pairs)).toBeLessThanOrEqual(0.5 * 10 ** -decimals + 1e-8);
      }),
      { numRuns },
    );
  },
);

/** Returns answers without their numbers, which may be rounded, and the choice, which may be a tie. */
function shapeOf(answers: object): unknown {
  return JSON.parse(JSON.stringify(answers), (key, value: unknown) =>
    typeof value === "number" || key === "choice" ? null : value,
  );
}

function numbersIn(value: unknown): readonly number[] {
  if (typeof value === "number") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}
