import { z } from "zod";

/** What an input record may have beside the contract's fields, for a model that is to read it. */
export const stateFieldSchemas = {
  attachments: z.array(
    z.object({ name: z.string(), type: z.string() }, "is not an object; write { name, type }"),
    "is not a list; write [{ name, type }]",
  ),
  list_id: z.string("is not text; write the List-Id header"),
  authentication_results: z.string("is not text; write the Authentication-Results header"),
};

/** One of them. */
export type StateField = keyof typeof stateFieldSchemas;

/** The names of them, in the order in which they stand in a state. */
export const stateFields = Object.keys(stateFieldSchemas) as readonly StateField[];

/** What a record has of them. */
export type StateFields = {
  readonly [TField in StateField]?: z.infer<(typeof stateFieldSchemas)[TField]> | undefined;
};

/** Returns what tells what is wrong with the wanted fields of a record; of others nothing is. */
export function stateFieldsCheck(wanted: readonly StateField[]): (record: unknown) => string[] {
  const shape = wanted.map((field) => [field, stateFieldSchemas[field].optional()]);
  const schema = z.object(Object.fromEntries(shape));
  return (record) => {
    const { error } = schema.safeParse(record);
    return error?.issues.map(({ path, message }) => [...path, message].join(" ")) ?? [];
  };
}

/** Returns the fields of a record that are wanted and that it has. */
export function pickStateFields(record: StateFields, wanted: readonly StateField[]): StateFields {
  const entries = wanted.map((field) => [field, record[field]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
