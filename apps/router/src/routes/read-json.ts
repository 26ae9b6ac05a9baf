import type { HonoRequest } from "hono";
import { HTTPException } from "hono/http-exception";

/**
 * Reads a body that must be JSON.
 *
 * @throws HTTPException with status 400 when it is not.
 */
export async function readJson(request: HonoRequest): Promise<unknown> {
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new HTTPException(400, { message: "The body is not JSON." });
  }
}
