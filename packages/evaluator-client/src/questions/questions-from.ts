import * as z from "zod/mini";
import { ConfigurationError } from "../errors.ts";
import { rejectAnswer } from "./rejections.ts";
import { isRecord, quoteName, recordInOrder, textAt, valueAt } from "./json.ts";
import { boolean, choice, type Question, questionKinds, score } from "./kinds.ts";
import type { BooleanQuestion } from "./kinds/boolean.ts";
import type { ChoiceQuestion } from "./kinds/choice.ts";
import type { ScoreQuestion } from "./kinds/score.ts";

/** A zod enum, or a union of literals. */
export type TextSchema =
  | z.core.$ZodEnum<Readonly<Record<string, string>>>
  | z.core.$ZodUnion<readonly z.core.$ZodLiteral<string>[]>;
/** A zod object of booleans, enums and unions of literals, of `zod` or `zod/mini`. */
export type QuestionsSchema = z.core.$ZodObject<
  Readonly<Record<string, z.core.$ZodBoolean | TextSchema>>
>;

/** The fields of a schema. */
export type Fields<TSchema extends QuestionsSchema> = TSchema["_zod"]["def"]["shape"];

/** Questions by field, and the way from their answers to the schema's type. */
export interface SchemaQuestions<TSchema extends QuestionsSchema> {
  readonly questions: {
    readonly [TId in keyof Fields<TSchema>]: Fields<TSchema>[TId] extends z.core.$ZodBoolean
      ? BooleanQuestion
      : ChoiceQuestion<z.core.output<Fields<TSchema>[TId]> & string> | ScoreQuestion;
  };
  /**
   * Returns the value of checked answers: true if yes has at least 0.5, else the most probable option or level.
   *
   * @throws {InvalidResponseError} when an answer is missing, or a check of the schema rejects the value.
   */
  toValue(this: void, answers: object): z.core.output<TSchema>;
}

/**
 * Turns a zod object into questions: a boolean is a yes/no question, an enum or a union of literals a choice,
 * and with `meta({ ordered: true })` a score from its first to its last value. The description of a field is its
 * question; the descriptions of literals, or `meta({ criteria: { value: "…" } })`, are those of its options.
 *
 * @throws {ConfigurationError} for any other field, and for a field without a description; it names the field.
 * @example
 * ```ts
 * const mail = questionsFrom(
 *   z.object({
 *     scam: z.boolean().describe("Does it look like a scam?"),
 *     kind: z.enum(["receipt", "other"]).describe("What kind of email is this?"),
 *   }),
 * );
 * const { answers } = await evaluator.evaluate({ state, questions: mail.questions });
 * mail.toValue(answers); // { scam: boolean; kind: "receipt" | "other" }
 * ```
 */
export function questionsFrom<TSchema extends QuestionsSchema>(
  schema: TSchema,
): SchemaQuestions<TSchema> {
  const { type, shape } = toDefinition(schema);
  if (type !== "object" || !isRecord(shape)) reject("", "is no z.object({ … })");
  const fields = Object.entries(shape).map(([id, field]) => toField(id, field));
  const questions = recordInOrder(fields.map(({ id, question }) => [id, question] as const));
  const toValue = (answers: object) => {
    const values = fields.map(({ id, question, names }) => {
      const answer: unknown = Object.hasOwn(answers, id) ? Reflect.get(answers, id) : undefined;
      const flaw = isRecord(answer) && answer["type"] === question.type;
      if (!flaw) refuse(id, "answer-type", `is missing or not of the type ${question.type}`);
      return [id, findValue(question, answer, names)] as const;
    });
    const parsedResult = z.safeParse(schema, Object.fromEntries(values));
    if (parsedResult.success) return parsedResult.data;
    const [issue] = parsedResult.error.issues;
    return refuse(issue?.path.join(".") ?? "", "schema", `breaks the schema: ${issue?.message}`);
  };
  return { questions, toValue } as unknown as SchemaQuestions<TSchema>;
}

interface Field {
  readonly id: string;
  readonly question: Question;
  /** The values of the options or levels, in their order. */
  readonly names: readonly string[];
}

/** Returns the definition of a schema, which `zod` and `zod/mini` have in the same place. */
function toDefinition(schema: unknown): Readonly<Record<string, unknown>> {
  const definition = valueAt(schema, "_zod", "def");
  return isRecord(definition) ? definition : {};
}

function toField(id: string, field: unknown): Field {
  const { description, ordered: orderedValue, criteria } = toMeta(field);
  const { type, entries, options: members } = toDefinition(field);
  if (type === "boolean") return { id, question: boolean(toText(id, description)), names: [] };
  const options =
    type === "enum" ? enumOptions(entries, criteria) : type === "union" && literalOptions(members);
  if (!options) reject(id, "is no boolean, enum of texts or union of text literals");
  const names = options.map(([name]) => name);
  const instructions = toText(id, description);
  if (orderedValue !== true) return { id, question: choice(instructions, options), names };
  const levels = options.map(([name, text]) => (text === null ? name : `${name}: ${text}`));
  return { id, question: score<readonly string[]>(instructions, levels), names };
}

type Options = readonly (readonly [name: string, description: string | null])[];

function enumOptions(entries: unknown, criteria: unknown): Options | null {
  const names = Object.values(entries as Readonly<Record<string, unknown>>);
  if (!names.every((name) => typeof name === "string")) return null;
  return names.map((name) => [name, textAt(criteria, name)] as const);
}

function literalOptions(members: unknown): Options | null {
  const options = (members as readonly unknown[]).map((member) => {
    const { type, values } = toDefinition(member);
    const [name, ...more] = type === "literal" ? (values as readonly unknown[]) : [];
    if (typeof name !== "string" || more.length > 0) return null;
    return [name, textAt(toMeta(member), "description")] as const;
  });
  return options.every((option) => option !== null) ? options : null;
}

/** Returns what `meta` and `describe` gave to a schema; `zod/mini` has it in its registry alone. */
function toMeta(schema: unknown): Readonly<Record<string, unknown>> {
  const { meta } = Object(schema) as { readonly meta?: () => unknown };
  const own = typeof meta === "function" ? meta.call(schema) : undefined;
  const knownValue: unknown = own ?? z.globalRegistry.get(schema as z.core.$ZodType);
  return isRecord(knownValue) ? knownValue : {};
}

function toText(id: string, description: unknown): string {
  if (typeof description === "string" && /\S/.test(description)) return description;
  return reject(id, "has no description, which is its question");
}

function findValue(question: Question, answer: object, names: readonly string[]): unknown {
  for (const field of questionKinds[question.type].values(question)) {
    const value = field.of(answer as never);
    if (field.form === "probability") return (value as number) >= 0.5;
    if (field.form !== "distribution") continue;
    const shares = field.keys.map((key) => (value as Readonly<Record<string, number>>)[key] ?? 0);
    return names[shares.indexOf(Math.max(...shares))];
  }
  return undefined;
}

function reject(path: string, what: string): never {
  const where = path === "" ? "The schema" : `The field ${quoteName(path)} of the schema`;
  const advice = `Write z.boolean(), z.enum([…]) or z.union([z.literal("…"), …]) with .describe("the question").`;
  throw new ConfigurationError(`${where} ${what}. ${advice}`, { option: path || "schema" });
}

function refuse(questionId: string, rule: string, flaw: string): never {
  const advice = "Give the answers to the questions of this schema, or ask again.";
  return rejectAnswer(questionId, { rule, flaw, advice });
}
