import type { Reading } from "./question-plan.ts";
import type { LabelToken } from "./servers/server.ts";

/** Returns the ids of a text's tokens, or null where the server has no tokenizer to ask. */
export type Tokenize = (text: string) => Promise<readonly number[] | null>;

/** Returns every single token that stands for one of a reading's labels; null when one has none. */
export async function tokensFor(
  { labels, foldsCase }: Reading,
  tokenize: Tokenize,
): Promise<readonly LabelToken[] | null> {
  const found = await Promise.all(
    labels.map((label) => tokensOfTexts(spellings(label, foldsCase), tokenize)),
  );
  if (found.some((tokens) => tokens.length === 0)) return null;
  return [...new Map(found.flat().map((token) => [token.id, token])).values()];
}

/** Returns whether each label is one token, and no two the same. */
export async function singleTokens(
  labels: readonly string[],
  tokenize: Tokenize,
): Promise<boolean> {
  // The last label is the longest number, and so the likeliest to be split.
  const [last] = await tokensOfTexts(labels.slice(-1), tokenize);
  if (last === undefined) return false;
  const found = await tokensOfTexts(labels, tokenize);
  return found.length === labels.length && new Set(found.map(({ id }) => id)).size === found.length;
}

async function tokensOfTexts(texts: readonly string[], tokenize: Tokenize): Promise<LabelToken[]> {
  const tokens = await Promise.all(
    texts.map(async (text) => {
      const [id, ...others] = (await tokenize(text)) ?? [];
      return id === undefined || others.length > 0 ? [] : [{ id, text }];
    }),
  );
  return tokens.flat();
}

function spellings(label: string, foldsCase: boolean): readonly string[] {
  const capital = label.charAt(0).toUpperCase() + label.slice(1);
  const cases = foldsCase ? [label, capital, label.toUpperCase()] : [label];
  return cases.flatMap((spelling) => [spelling, ` ${spelling}`]);
}
