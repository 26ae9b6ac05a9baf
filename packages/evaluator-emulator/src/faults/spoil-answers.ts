import { isJsonRecord } from "../questions/json-record.ts";
import { mapRecord } from "../questions/map-record.ts";
import type { Reply } from "../server/reply.ts";
import type { AnswerFault } from "./fault.ts";

type Answers = Record<string, Record<string, unknown>>;

const spoilers: Readonly<Record<AnswerFault["kind"], (answers: Answers) => Answers>> = {
  "wrong-sums": (answers) => mapRecord(answers, (answer) => mapRecord(answer, spoilField)),
  "missing-answer": (answers) => Object.fromEntries(Object.entries(answers).slice(1)),
  refusal: (answers) => mapRecord(answers, () => ({ type: "refusal" })),
};

/**
 * Spoils the answers of an evaluation, whichever wire it leaves by: probabilities that do not sum
 * to 1 (above 1 for a yes/no question), the first answer missing, or every answer a refusal.
 */
export function spoilAnswers(reply: Reply, kind: AnswerFault["kind"]): Reply {
  if (reply.status !== 200 || typeof reply.body !== "string") return reply;
  const body = JSON.parse(reply.body) as { answers: Answers };
  return { ...reply, body: JSON.stringify({ ...body, answers: spoilers[kind](body.answers) }) };
}

function spoilField(value: unknown, name: string): unknown {
  if (name === "probabilities" && isJsonRecord(value)) {
    const isAlone = Object.keys(value).length === 1;
    return mapRecord(value, () => (isAlone ? 0.5 : 1));
  }
  return name === "probability" || name === "noul" ? 1.5 : value;
}
