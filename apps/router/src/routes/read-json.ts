import type { HonoRequest } from "hono";
import { Refusal } from "./refusal.ts";

/**
 * Reads a body that must be JSON.
 *
 * @throws Refusal with status 400 when it is not.
 */
export async function readJson(request: HonoRequest): Promise<unknown> {
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "The body is not JSON.");
  }
}
