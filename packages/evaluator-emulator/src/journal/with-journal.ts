import type { AccountBook } from "../accounts/account-book.ts";
import { bearerKey } from "../server/bearer-key.ts";
import type { Call } from "../server/call.ts";
import type { Deliver } from "../server/delivery.ts";
import type { Journal } from "./journal.ts";

/** What the journal needs to describe a call. */
export interface JournalContext {
  readonly accounts: AccountBook;
  readonly clock: () => number;
}

/** Notes every call before it is answered, and what became of it after. */
export function withJournal(
  deliver: Deliver,
  journal: Journal,
  { accounts, clock }: JournalContext,
): Deliver {
  return async (call) => {
    const { method, path } = call;
    const account = accountOf(call, accounts);
    const entry = journal.add({ startTime: clock(), method, path, model: modelOf(call), account });
    const delivery = await deliver(call);
    entry.status = delivery.reply?.status ?? null;
    entry.note = delivery.reply?.headers["x-evaluator-emulator"] ?? null;
    entry.ending = delivery.ending;
    return delivery;
  };
}

function accountOf(call: Call, accounts: AccountBook): number | null {
  const key = bearerKey(call);
  return key === null ? null : (accounts.find(key)?.number ?? null);
}

function modelOf({ header }: Call): string | null {
  return header("ai-model-id") ?? header("ai-language-model-id");
}
