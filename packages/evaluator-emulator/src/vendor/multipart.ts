import { type Call, readJson } from "../call.ts";
import { isJsonRecord, mapRecord } from "../json.ts";
import { RequestError } from "../request-error.ts";

/**
 * Reads a body of parts, in which the vendor's Python SDK sends images as files beside the request, and
 * returns the request with the images in it; null for another body.
 *
 * @throws {RequestError} if the parts cannot be read.
 */
export async function readForm(emulatedCall: Call): Promise<unknown> {
  const type = emulatedCall.header("content-type") ?? "";
  if (!type.startsWith("multipart/form-data")) return null;
  const headers = { "content-type": type };
  const form = await new Response(await emulatedCall.bytes(), { headers }).formData().catch(() => {
    throw new RequestError("The parts of the body cannot be read.");
  });
  const files = new Map<string, object>();
  for (const [name, part] of form) if (part instanceof Blob) files.set(name, await toAsset(part));
  const fieldText = form.get("request");
  const requestBody = await readJson({
    text: () => (fieldText instanceof Blob ? fieldText.text() : Promise.resolve(fieldText ?? "")),
  });
  if (!isJsonRecord(requestBody) || !isJsonRecord(requestBody["assets"])) return requestBody;
  const assets = mapRecord(requestBody["assets"], (asset) => {
    const assetPart = isJsonRecord(asset) ? asset["part"] : undefined;
    return (typeof assetPart === "string" && files.get(assetPart)) || asset;
  });
  return { ...requestBody, assets };
}

/** Returns a file as the JSON form has it. */
async function toAsset(file: Blob): Promise<object> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const fieldText = Array.from(bytes, (byte) => String.fromCodePoint(byte)).join("");
  return { type: "image", format: file.type.replace("image/", ""), data_base64: btoa(fieldText) };
}
