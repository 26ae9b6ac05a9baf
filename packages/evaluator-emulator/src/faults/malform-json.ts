import type { Reply } from "../server/reply.ts";

/** A body that is whole but no JSON: its last character, or the end of every event, is missing. */
export function malformJson({ body, ...reply }: Reply): Reply {
  if (typeof body === "string") return { ...reply, body: body.slice(0, -1) };
  return { ...reply, body: body.map((event) => event.replace(/\}\n\n$/, "\n\n")) };
}
