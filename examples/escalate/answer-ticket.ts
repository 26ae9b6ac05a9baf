import {
  boolean,
  choice,
  createEvaluator,
  directTransport,
  type Evaluator,
} from "evaluator-client";
import { escalate } from "evaluator-client/escalate";
import { evaluateSettled } from "evaluator-client/settled";

const questions = {
  team: choice("Which team should answer this ticket?", {
    billing: "invoices, payments, refunds",
    technical: "something does not work",
    other: "none of the above",
  }),
  angry: boolean("Is the customer angry?"),
};

/** Asks a small model, and a better one again for the questions that the small one is unsure of. */
export function createAsking(
  small: Evaluator = createEvaluator(),
  better: Evaluator = createEvaluator({ transport: directTransport({ service: "openai" }) }),
) {
  const evaluator = small.with(
    escalate(
      better,
      { team: { below: 0.8 }, angry: { between: [0.2, 0.8] } },
      { nextBounds: { team: { below: 0.6 } } },
    ),
  );

  /** Returns the team of a ticket, or null for a person, and who answered. */
  return async (ticket: string) => {
    const { answers, evaluation, costUsd } = await evaluateSettled(evaluator, {
      state: { ticket },
      questions,
    });
    const team = answers.team.status === "answered" ? answers.team.answer.choice : null;
    return { team, by: evaluation?.route?.team.transport ?? null, costUsd };
  };
}
