import * as z from "zod/mini";
import { mapped, toRecord } from "../../json.ts";
import { boolean } from "./boolean.ts";
import { box } from "./box.ts";
import { choice } from "./choice.ts";
import type { Kind, PrintedAnswer, Wire } from "./kind.ts";
import { score } from "./score.ts";

const kinds = { choice, score, boolean, box };

type KindName = keyof typeof kinds;

/** One question, the same whichever wire it came over. */
export type QuestionInput = {
  [TName in KindName]: (typeof kinds)[TName] extends Kind<infer TQuestion> ? TQuestion : never;
}[KindName];

/** One printed answer, the same whichever wire it leaves by. */
export type JudgedAnswer = PrintedAnswer & { readonly type: KindName };

const byName: Readonly<Record<KindName, Kind<QuestionInput>>> = kinds;
/** All kinds. */
export const allKinds = Object.values(byName);

/** Returns the kind of a question or an answer. */
export function toKind({ type }: { readonly type: KindName }): Kind<QuestionInput> {
  return byName[type];
}

type Tagged = [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]];

/** Returns the schema of a question map: at least one question, ids are data. */
export function questionsSchema(wireForm: Wire) {
  const knownKinds = allKinds.filter(({ names }) => names[wireForm] !== null);
  const names = knownKinds.map((questionKind) => questionKind.names[wireForm]);
  const error = `expected a question of type ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  const schemas = knownKinds.map((questionKind) =>
    questionKind.question(wireForm),
  ) as unknown as Tagged;
  const question = z.discriminatedUnion("type", schemas, { error });
  return toRecord(question as unknown as z.ZodMiniType<QuestionInput>).check(
    z.refine((questions) => Object.keys(questions).length > 0, "expected at least 1 question"),
  );
}

/** A recorded answer of either wire. */
export const answerSchema: z.ZodMiniType<JudgedAnswer> = z.union(
  Object.entries(byName).map(([type, { answer }]) =>
    mapped(answer, (read) => ({ ...read, type: type as KindName })),
  ),
);
