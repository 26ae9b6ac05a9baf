import { type Call, readJson } from "../call.ts";
import { isJsonRecord, mapRecord } from "../json.ts";
import { RequestError } from "../request-error.ts";

/**
 * Reads a body of parts, in which the vendor's Python SDK sends images as files beside the request, and
 * returns the request with the images in it; null for another body.
 *
 * @throws {RequestError} if the parts cannot be read.
 */
export async function readForm(call: Call): Promise<unknown> {
  const type = call.header("content-type") ?? "";
  if (!type.startsWith("multipart/form-data")) return null;
  const headers = { "content-type": type };
  const form = await new Response(await call.bytes(), { headers }).formData().catch(() => {
    throw new RequestError("The parts of the body cannot be read.");
  });
  const files = new Map<string, object>();
  for (const [name, part] of form) if (part instanceof Blob) files.set(name, await toAsset(part));
  const text = form.get("request");
  const body = await readJson({
    text: () => (text instanceof Blob ? text.text() : Promise.resolve(text ?? "")),
  });
  if (!isJsonRecord(body) || !isJsonRecord(body["assets"])) return body;
  const assets = mapRecord(body["assets"], (asset) => {
    const part = isJsonRecord(asset) ? asset["part"] : undefined;
    return (typeof part === "string" && files.get(part)) || asset;
  });
  return { ...body, assets };
}

/** Returns a file as the JSON form has it. */
async function toAsset(file: Blob): Promise<object> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = Array.from(bytes, (byte) => String.fromCodePoint(byte)).join("");
  return { type: "image", format: file.type.replace("image/", ""), data_base64: btoa(text) };
}
