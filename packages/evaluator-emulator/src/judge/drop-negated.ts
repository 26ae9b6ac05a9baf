const clausePattern = /[^,.;:()]+/gu;
const negationPattern = /\b(?:no|not|none|never|without)\b.*$/isu;

/** The text without what a description denies: "short task, no deep reasoning" keeps "short task". */
export function dropNegated(text: string): string {
  const clauses = text.match(clausePattern) ?? [];
  return clauses.map((clause) => clause.replace(negationPattern, "")).join(", ");
}
