import { z } from "zod";
import type { AccountBook } from "../accounts/account-book.ts";
import { topUpAccount } from "../accounts/account.ts";
import { toDollarString } from "../catalog/price.ts";
import type { Call } from "../server/call.ts";
import { readJson } from "../server/read-json.ts";
import { jsonReply, type Reply } from "../server/reply.ts";

const bodySchema = z.strictObject({
  key: z.string().min(1).optional(),
  amount: z.number().min(0.01).max(1000),
});

/**
 * Buys credits, `amount` in US dollars, for the account of a key or, without one, for every
 * account; either is on the paid tier from its next call (contract section 3).
 *
 * @throws {RangeError} when the body is something else, or the key is not accepted.
 */
export async function topUp(call: Call, accounts: AccountBook): Promise<Reply> {
  const { data } = bodySchema.safeParse(await readJson(call));
  if (data === undefined) {
    throw new RangeError("Expected { key?, amount }, the amount from 0.01 to 1000 US dollars.");
  }
  if (data.key === undefined) {
    accounts.topUpAll(data.amount);
    return jsonReply({ tier: "paid" });
  }
  const account = accounts.find(data.key);
  if (account === null) throw new RangeError("The emulator does not accept this key.");
  topUpAccount(account, data.amount);
  return jsonReply({ tier: account.tier, balance: toDollarString(account.balance) });
}
