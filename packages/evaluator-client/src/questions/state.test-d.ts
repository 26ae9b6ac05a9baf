import { expectTypeOf } from "vitest";
import type { Evaluator } from "../evaluator.ts";
import type { JsonObject } from "./json.ts";
import { boolean, choice } from "./kinds.ts";
import { image, type State } from "./state.ts";
import type { EvaluationRequest } from "./request.ts";

declare const evaluator: Evaluator;
const questions = { scam: boolean("scam?") };

interface Tag {
  name: string;
  children: Tag[];
}
interface Mail {
  from: string;
  subject?: string;
  tags: readonly Tag[];
  parts: { first: Tag; sizes: [number, number] };
}
declare const mail: Mail;
declare const json: JsonObject;
declare const request: EvaluationRequest;

// An interface, interfaces nested in it and lists of them are a state, and questions still infer.
const { answers } = await evaluator.evaluate({
  state: mail,
  questions: { tier: choice("tier?", { nano: "n", fast: "f" }) },
});
expectTypeOf(answers.tier.choice).toEqualTypeOf<"nano" | "fast">();
void evaluator.evaluate({ state: { mail, others: [mail, mail] }, questions });
void evaluator.evaluate({ state: json, questions });
void evaluator.evaluate(request);
evaluator.evaluateMany([{ state: mail, questions }]);
evaluator.evaluateMany([mail].map((state) => ({ state, questions })));
evaluator.evaluateMany([request]);

// A list of parts is a state too.
declare const state: State;
void evaluator.evaluate({ state: ["a photo", image("https://example.com/a.png")], questions });
void evaluator.evaluate({ state: ["a mail", { json: mail }, image(new Uint8Array())], questions });
void evaluator.evaluate({ state, questions });
evaluator.evaluateMany([mail].map((one) => ({ state: [{ json: one }, image("")], questions })));

class Money {
  readonly amount = 1;
  format(): string {
    return "1";
  }
}
interface Dated {
  name: string;
  at: Date;
}
declare const dated: Dated;
declare const unknowns: Record<string, unknown>;

// @ts-expect-error Type '() => 1' is not assignable to type 'NotJson<"a function, or an object with methods: send its fields">'.
void evaluator.evaluate({ state: { f: () => 1 }, questions });
// @ts-expect-error Type '() => string' is not assignable to type 'NotJson<"a function, or an object with methods: send its fields">'.
void evaluator.evaluate({ state: { price: new Money() }, questions });
// @ts-expect-error Property 'notJson' is missing in type 'Date' but required in type 'NotJson<"an instance of a class: send its text or its fields">'.
void evaluator.evaluate({ state: { at: new Date() }, questions });
// @ts-expect-error The same, in an interface.
void evaluator.evaluate({ state: dated, questions });
// @ts-expect-error The same, in a batch.
evaluator.evaluateMany([{ state: dated, questions }]);
// @ts-expect-error Type 'Map<string, string>' is not assignable to type 'NotJson<"an instance of a class: send its text or its fields">'.
void evaluator.evaluate({ state: { headers: [new Map<string, string>()] }, questions });
// @ts-expect-error Type 'bigint' is not assignable to type 'NotJson<"a bigint: send it as text">'.
void evaluator.evaluate({ state: { size: 10n }, questions });
// @ts-expect-error Type 'symbol' is not assignable to type 'NotJson<"a symbol">'.
void evaluator.evaluate({ state: { kind: Symbol("mail") }, questions });
// @ts-expect-error Type 'unknown' is not assignable to type 'NotJson<"unknown: give it a JSON type">'.
void evaluator.evaluate({ state: unknowns, questions });
// @ts-expect-error Type 'Mail' is not assignable to type 'NotJson<"a list that is not of parts (text, { json } and images): put it under a key of an object">'.
void evaluator.evaluate({ state: [mail], questions });
// @ts-expect-error Property 'notJson' is missing in type 'Date' but required in type 'NotJson<"an instance of a class: send its text or its fields">'.
void evaluator.evaluate({ state: [{ json: dated }], questions });

// A plain constant without `as const`: the message names the question, tier, and its type.
const widened = {
  scam: boolean("scam?"),
  tier: { type: "choice", instructions: "tier?", criteria: { nano: "n" } },
};
// @ts-expect-error Property 'tier' is incompatible with index signature. […] Type 'string' is not assignable to type '"score"'.
void evaluator.evaluate({ state: "text", questions: widened });
