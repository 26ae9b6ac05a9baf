import type { Call } from "../server/call.ts";
import { jsonReply, type Reply } from "../server/reply.ts";

/** Refuses what a page of another origin sends to the control routes; else null. */
export function refuseForeignOrigin({ header }: Call): Reply | null {
  const origin = header("origin");
  if (origin === null || origin === `http://${header("host")}`) return null;
  const message = "Pages of other origins may not control the emulator.";
  return jsonReply({ error: { message, type: "forbidden" } }, { status: 403 });
}
