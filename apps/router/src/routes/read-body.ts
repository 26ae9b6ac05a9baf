import { cutText } from "evaluator-client";
import type { HonoRequest } from "hono";
import { z } from "zod";
import { HttpError } from "../http-error.ts";

/** The longest message that is read, in characters: Unicode code points (contract section 8). */
export const MAX_MESSAGE_LENGTH = 20_000;

const messageSchema = z.object({ message: z.string().regex(/\S/) });

/**
 * Reads `{ message }`, cut to its limit (contract section 4.6, rule 1).
 *
 * @throws HttpError with status 400 when there is no text.
 */
export async function readMessage(request: HonoRequest): Promise<string> {
  const { data } = messageSchema.safeParse(await readJson(request));
  if (data) return cutMessage(data.message);
  throw new HttpError(400, 'Send { "message": "…" }; the text is not blank.');
}

/** Returns a message cut to {@link MAX_MESSAGE_LENGTH}, or a little less where a character would be split. */
export function cutMessage(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  return cutText(message, unitsOf(message, MAX_MESSAGE_LENGTH));
}

/** How many UTF-16 code units so many characters from the start take; all of a shorter text. */
function unitsOf(text: string, characters: number): number {
  let units = 0;
  for (let count = 0; count < characters && units < text.length; count += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return units;
}

/**
 * Reads a body that must be JSON.
 *
 * @throws HttpError with status 400 when it is not.
 */
export async function readJson(request: HonoRequest): Promise<unknown> {
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, "The body is not JSON.");
  }
}
