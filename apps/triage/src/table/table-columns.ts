import type { AnswerField } from "../output/answer-fields.ts";

/** A column of answers. */
export interface TableColumn {
  readonly heading: string;
  /** The output field it shows. */
  readonly field: string;
}

const contractColumns: readonly TableColumn[] = [
  { heading: "imp", field: "importance" },
  { heading: "conf", field: "importanceConf" },
  { heading: "scam", field: "scam" },
  { heading: "deal", field: "brandDeal" },
  { heading: "category", field: "category" },
];

/** Gives the columns of answers: the contract's (section 4.7) for its questions, else all of them. */
export function tableColumns(fields: readonly AnswerField[]): readonly TableColumn[] {
  const names = fields.flatMap(({ field, confidenceField }) =>
    [field, confidenceField ?? []].flat(),
  );
  if (contractColumns.every(({ field }) => names.includes(field))) return contractColumns;
  return names.map((field) => ({ heading: field, field }));
}
