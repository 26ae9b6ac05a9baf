import process from "node:process";
import { boolean, createEvaluator } from "evaluator-client";

// What the snippets of READMEs take for given. A snippet imports from here what it uses and does not
// declare.

export const evaluator = createEvaluator();
export const requests = ["You have won the lottery", "hello"].map((state) => {
  return { state, questions: { scam: boolean("Is it a scam?") } };
});
export const { signal } = new AbortController();

export const url = process.env["SNIPPET_DATABASE_URL"] ?? "";
const record = { id: "a", key: "a-key", state: "{}" };
export const run = {
  digest: "a-digest",
  setup: { hash: "a-setup", wire: "gateway", modelId: "a-model", questions: "{}" },
  name: "inbox.json",
  facts: "{}",
  records: 1,
  maxCostUsd: null,
};
/** Yields one record of a run. */
export async function* records() {
  yield record;
}
/** Answers a record without a service. */
export async function ask({ idx, key, state }: { idx: number; key: string; state: string }) {
  return { idx, key, state, evaluation: '{"answers":{}}', inputTokens: 300, costUsd: 0.25 };
}
