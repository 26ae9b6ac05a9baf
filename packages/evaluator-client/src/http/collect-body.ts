import { InvalidResponseError } from "../errors.ts";
import { MAX_BODY_BYTES } from "./http-client.ts";

/** Collects the chunks of a body, up to {@link MAX_BODY_BYTES}. */
export async function collectBody(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const collected: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.byteLength;
    if (length > MAX_BODY_BYTES) throw bodyTooLarge();
    collected.push(chunk);
  }
  return collected.length === 1 && collected[0] ? collected[0] : join(collected, length);
}

/** The error for a body over {@link MAX_BODY_BYTES}. */
export function bodyTooLarge(): InvalidResponseError {
  const message = `The response body is over ${MAX_BODY_BYTES} bytes; check that the base URL is an evaluation service.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-size" });
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
