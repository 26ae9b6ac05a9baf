import * as fc from "fast-check";
import { expect, test } from "vitest";
import { directResponseSchema, isDirectResponse } from "./direct-wire.ts";

test("the cheap check takes what the schema takes, and nothing else", () => {
  const some = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, 1, -1, "text", Number.NaN));
  const answers = fc.dictionary(fc.string(), fc.oneof(fc.record({ type: some }), some), {
    noNullPrototype: true,
  });
  const usage = fc.record({ input_tokens: some, output_tokens: some }, { requiredKeys: [] });
  const bodies = fc.record(
    { model: some, answers: fc.oneof(answers, some), usage: fc.oneof(usage, some) },
    { requiredKeys: [] },
  );
  const good = { answers: { a: { type: "noul" } }, usage: { input_tokens: 1, output_tokens: 2 } };
  const nearly = bodies.map((body) => ({ ...good, ...body }));
  fc.assert(
    fc.property(fc.oneof(bodies, nearly, some), (body) => {
      expect(isDirectResponse(body)).toBe(directResponseSchema.safeParse(body).success);
    }),
    { numRuns: 2000 },
  );
});
