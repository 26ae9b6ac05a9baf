import { UsageError } from "../errors.ts";
import type { AnswerField } from "../output/answer-fields.ts";
import { plainMessage } from "../text/plain-message.ts";

/** Refuses to sort by a field that the results do not have. */
export function checkSort(
  { sort }: { readonly sort: string | null },
  fields: readonly AnswerField[],
): void {
  const answers = fields.flatMap(({ field, confidenceField }) => [field, confidenceField]);
  const names = ["id", "date", "from", "subject", ...answers.filter((name) => name !== null)];
  if (sort === null || names.includes(sort)) return;
  throw new UsageError(plainMessage`--sort takes one of ${names.join(", ")}`);
}
