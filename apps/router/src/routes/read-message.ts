import type { HonoRequest } from "hono";
import { z } from "zod";
import { cutMessage } from "../chat/cut-message.ts";
import { readJson } from "./read-json.ts";
import { Refusal } from "./refusal.ts";

const messageSchema = z.object({ message: z.string().regex(/\S/) });

/**
 * Reads `{ message }`, cut to its limit (contract section 4.6, rule 1).
 *
 * @throws Refusal with status 400 when there is no text.
 */
export async function readMessage(request: HonoRequest): Promise<string> {
  const { data } = messageSchema.safeParse(await readJson(request));
  if (data) return cutMessage(data.message);
  throw new Refusal(400, 'Send { "message": "…" }; the text is not blank.');
}
