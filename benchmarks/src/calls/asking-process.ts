import mail from "evaluator-fixtures/exchanges/gateway/consent-alert-first-of-thread.json" with { type: "json" };
import { mailState } from "../sample-requests.ts";
import { serveRounds } from "./run-round.ts";
import { type GivenAnswers, type TargetName, targets, type TargetSetUp } from "./targets.ts";

const expected = Object.entries(mail.response.body.answers).map(([id, answer]) => ({
  id,
  value: decisiveValue(answer),
}));

const service = serveRounds(async ({ target, ...setUp }: TargetSetUp & { target: TargetName }) => {
  const ask = await targets[target].open(setUp);
  return async (number) => verifyMailAnswers(await ask(mailState(number)));
});

/** The calls that an asking process takes. */
export type AskingService = typeof service;

/** Throws unless the answers are those to a mail; cheap enough for every call: one value of each answer. */
function verifyMailAnswers(answers: GivenAnswers): void {
  for (const { id, value } of expected) {
    if (decisiveValue(answers[id] ?? {}) === value) continue;
    const given = JSON.stringify(answers[id]);
    throw new Error(`Not the answer expected to "${id}": ${given} instead of ${String(value)}.`);
  }
}

function decisiveValue(answer: object): unknown {
  const { choice, score, probability, noul } = answer as Record<string, unknown>;
  return choice ?? score ?? probability ?? noul;
}
