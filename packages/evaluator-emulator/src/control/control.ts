import type { AccountBook } from "../accounts/account-book.ts";
import type { FaultBook } from "../faults/fault-book.ts";
import type { Journal } from "../journal/journal.ts";
import { jsonReply, type Handler } from "../server/reply.ts";
import { routeTable } from "../server/route-table.ts";
import { UnreadableBody } from "../server/unreadable-body.ts";
import { addFaults } from "./add-faults.ts";
import { journalPage } from "./journal-page.ts";
import { refuseForeignOrigin } from "./refuse-foreign-origin.ts";
import { topUp } from "./top-up.ts";

/** What the control routes work on. */
export interface ControlContext {
  readonly accounts: AccountBook;
  readonly faults: FaultBook;
  readonly journal: Journal;
  readonly reset: () => void;
}

/** Whether an address exists only here and at no real service. */
export function isControlPath(path: string): boolean {
  return path.startsWith("/_emulator/");
}

/** The routes that exist only here, under `/_emulator/`; no fault and no journal touches them. */
export function control({ accounts, faults, journal, reset }: ControlContext): Handler {
  const faultList = () => jsonReply({ faults: faults.list() });
  const answer = routeTable(
    {
      "POST /_emulator/top-up": (call) => topUp(call, accounts),
      "POST /_emulator/reset": () => {
        reset();
        return jsonReply({});
      },
      "GET /_emulator/journal": () => jsonReply(journalPage(journal)),
      "GET /_emulator/faults": faultList,
      "POST /_emulator/faults": async (call) => {
        await addFaults(call, faults);
        return faultList();
      },
      "DELETE /_emulator/faults": () => {
        faults.clear();
        return faultList();
      },
    },
    () => refusal("The emulator has no such address.", 404),
  );
  return async (call) => {
    try {
      return refuseForeignOrigin(call) ?? (await answer(call));
    } catch (error) {
      if (error instanceof UnreadableBody) return refusal(error.message, error.status);
      if (error instanceof RangeError) return refusal(error.message, 400);
      return refusal("The emulator failed; this is a defect of the emulator.", 500);
    }
  };
}

function refusal(message: string, status: number) {
  return jsonReply({ error: { message, type: "invalid_request_error" } }, { status });
}
