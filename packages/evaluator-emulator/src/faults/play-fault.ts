import type { Call } from "../server/call.ts";
import type { Delivery } from "../server/delivery.ts";
import { withHeaders, type Handler, type Reply } from "../server/reply.ts";
import type { PickedFaults } from "./fault-book.ts";
import { malformJson } from "./malform-json.ts";
import { spoilAnswers } from "./spoil-answers.ts";
import { statusReply } from "./status-reply.ts";

/** A fault that changes what a caller gets. */
export type BreakingFault = NonNullable<PickedFaults["fault"]>;

/** Plays a fault on a call; where a reply is spoilt on its way, the call was answered and charged. */
export async function playFault(
  fault: BreakingFault,
  call: Call,
  handler: Handler,
): Promise<Delivery> {
  if (fault.kind === "hang" || fault.kind === "reset") return { ending: fault.kind, reply: null };
  if (fault.kind === "status") return wholly(mark(statusReply(fault, call.path), fault));
  if (fault.kind === "html") return wholly(mark(htmlPage(fault.status ?? 502), fault));
  const reply = mark(await handler(call), fault);
  if (fault.kind === "reset-body") return { ending: "reset", reply };
  if (fault.kind === "cut-body") return { ending: "cut", reply };
  if (fault.kind === "malformed-json") return wholly(malformJson(reply));
  return wholly(spoilAnswers(reply, fault.kind));
}

function wholly(reply: Reply): Delivery {
  return { ending: "whole", reply };
}

function htmlPage(status: number): Reply {
  const page = "<!doctype html><title>Bad gateway</title><h1>Something in between answered</h1>\n";
  return { status, headers: { "content-type": "text/html; charset=utf-8" }, body: page };
}

/** Says in the emulator's own header that this was asked for. */
function mark(reply: Reply, { kind }: BreakingFault): Reply {
  const basis = reply.headers["x-evaluator-emulator"];
  const notes = [...(basis === undefined ? [] : [basis]), `fault=${kind}`];
  return withHeaders(reply, { "x-evaluator-emulator": notes.join("; ") });
}
