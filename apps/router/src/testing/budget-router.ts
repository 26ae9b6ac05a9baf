import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { onTestFinished } from "vitest";
import { reservedNano } from "../keys/budget-state.ts";
import { sqliteLedger } from "../keys/key-database.ts";
import { Ledger } from "../keys/ledger.ts";
import { toHash, storedKeySchema } from "../keys/router-key.ts";
import { defaultTierModels } from "../router-options.ts";
import { testRouter } from "./test-router.ts";
import { decisionFor, type Differences } from "./upstreams.ts";

const price = (input: number, output: number) => ({
  inputUsdPerMillionTokens: input,
  outputUsdPerMillionTokens: output,
});
const prices = new Map([
  [defaultTierModels.nano, price(1, 2)],
  [defaultTierModels.fast, price(10, 20)],
  [defaultTierModels.balanced, price(100, 200)],
  [defaultTierModels.frontier, price(1000, 2000)],
]);
/** The headers of its client. */
export const headers = { "content-type": "application/json", authorization: "Bearer rk_alice" };

/** A whole reply of ten input tokens. */
export const wholeReply = (outputTokens: number, more: object = {}) =>
  Response.json({
    content: [{ type: "text", text: "Hello!" }],
    finishReason: { unified: "stop" },
    usage: { inputTokens: { total: 10 }, outputTokens: { total: outputTokens } },
    warnings: [],
    ...more,
  });

const evaluation = () => Response.json(decisionFor("frontier"));

/** A router with one key, its budget of US dollars a day, and the ledger. */
export async function budgetRouter(
  usdPerDay: number | null,
  differences: Differences = {},
  { key = {}, ...parts }: { key?: object } & Parameters<typeof testRouter>[1] = {},
) {
  const path = join(await temporaryFolder(), "router-keys.spend.sqlite");
  const ledger = new Ledger(() => sqliteLedger(path), { leaseMs: 60_000 });
  onTestFinished(() => ledger.close());
  const alice = storedKeySchema.parse({
    name: "alice",
    budget: "team",
    sha256: toHash("rk_alice"),
    usdPerDay,
    ...key,
  });
  const keys = { current: () => [alice] };
  const router = await testRouter(
    { evaluation, ...differences },
    { keys, ledger, prices, ...parts },
  );
  const post = (to: string, body: object, more: Record<string, string> = {}) => {
    const init = { method: "POST", body: JSON.stringify(body), headers: { ...headers, ...more } };
    return router.request(to, init);
  };
  const messages = [{ role: "user", content: "hi" }];
  return {
    ...router,
    path,
    post,
    ask: (model: string, more: object = {}) =>
      post("/v1/chat/completions", { model, messages, ...more }),
    spend: async (usd: number) => {
      const { held } = await ledger.reserve(alice, [usd * 1e9]);
      if (held !== null) await ledger.settle(alice, held, usd * 1e9);
    },
    spent: async () => {
      const state = await ledger.state(alice);
      return { ...state, reservedNano: reservedNano(state) };
    },
  };
}
