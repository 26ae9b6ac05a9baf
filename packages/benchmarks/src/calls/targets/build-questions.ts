import type { Question, Questions } from "evaluator-client";
import type { Client } from "../../client-build/load-client.ts";

/** Builds questions as a person does, with the client's own builders; once for the same ones. */
export function questionBuilder(client: Client): (questions: Questions) => Questions {
  const known = new Map<Questions, Questions>();
  return (questions) => {
    const built = known.get(questions) ?? buildAll(client, questions);
    known.set(questions, built);
    return built;
  };
}

/** Builds the same questions, as new objects. */
export function buildAll(client: Client, questions: Questions): Questions {
  const entries = Object.entries(questions);
  return Object.fromEntries(entries.map(([id, question]) => [id, build(client, question)]));
}

function build({ choice, score, boolean }: Client, question: Question): Question {
  const { type, instructions } = question;
  if (type === "choice") return choice(instructions, question.criteria);
  return type === "score" ? score(instructions, question.criteria) : boolean(instructions);
}
