import { unpackBody, UnpackError } from "evaluator-kit";
import type { HonoRequest, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HttpError } from "../http-error.ts";

/** Requires JSON, which a form of a foreign page cannot send, up to a size in bytes, packed or not. */
export function jsonBody(maxSize: number): MiddlewareHandler {
  const limitUnknownSize = bodyLimit({ maxSize, onError: () => refuseSize(maxSize) });
  return async (c, next) => {
    const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
    if (mediaType.trim().toLowerCase() !== "application/json") {
      throw new HttpError(415, "Send JSON with the header Content-Type: application/json.");
    }
    const encoding = c.req.header("content-encoding")?.trim().toLowerCase() ?? "identity";
    const continueUnpacked = async () => {
      if (encoding !== "identity") c.req.raw = await unpack(c.req.raw, encoding, maxSize);
      await next();
    };
    const contentLength = c.req.header("content-length");
    if (contentLength === undefined) return limitUnknownSize(c, continueUnpacked);
    return Number(contentLength) > maxSize ? refuseSize(maxSize) : continueUnpacked();
  };
}

/** Returns a request with its body unpacked, up to a size. */
async function unpack(request: Request, encoding: string, maxSize: number): Promise<Request> {
  try {
    const body = await unpackBody(await request.arrayBuffer(), encoding, maxSize);
    return new Request(request, { method: "POST", body }); // all routes with a body
  } catch (error) {
    if (error instanceof UnpackError) throw new HttpError(error.status, error.message);
    throw error;
  }
}

function refuseSize(maxSize: number): never {
  throw new HttpError(413, `The body is over ${maxSize} bytes; send less.`);
}

/** Reads a JSON body. @throws HttpError with status 400 for invalid JSON. */
export async function readJson<T = unknown>(
  request: HonoRequest,
  parse: (bodyText: string) => T = JSON.parse,
): Promise<T> {
  const bodyText = await request.text();
  try {
    return parse(bodyText);
  } catch {
    throw new HttpError(400, "The body is not JSON.");
  }
}
