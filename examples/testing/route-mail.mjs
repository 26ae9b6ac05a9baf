import { boolean, choice } from "evaluator-client";

const questions = {
  queue: choice("Who should read this mail?", {
    billing: "invoices, payments, refunds",
    support: "something does not work",
    nobody: "advertisement, or no answer expected",
  }),
  urgent: boolean("Does the sender expect an answer today?"),
};

/** Returns the queue for a mail; what is unsure goes to a person. */
export async function routeMail(evaluator, mail) {
  const { answers } = await evaluator.evaluate({ state: mail, questions });
  const { choice: queue, probabilities } = answers.queue;
  if (probabilities[queue] < 0.5) return "person";
  return answers.urgent.probability > 0.5 ? `${queue}, today` : queue;
}
