import type { Call } from "./call.ts";
import { isLoopbackHost } from "./loopback-host.ts";
import { jsonReply, type Reply } from "./reply.ts";

/** Refuses a call that came under a foreign name, as DNS rebinding would send it; else null. */
export function refuseForeignHost({ header }: Call): Reply | null {
  const host = header("host") ?? "";
  if (isLoopbackHost(host.replace(/:\d+$/, ""))) return null;
  const message = "The emulator answers to loopback names only, such as 127.0.0.1 or localhost.";
  return jsonReply({ error: { message, type: "forbidden" } }, { status: 403 });
}
