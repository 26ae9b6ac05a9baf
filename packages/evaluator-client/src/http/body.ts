import { InvalidResponseError } from "../errors.ts";
import { MAX_BODY_BYTES } from "./http-client.ts";

/** Collects the chunks of a body, up to {@link MAX_BODY_BYTES}. */
export class BodyCollector {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** @throws InvalidResponseError when the body is over the limit. */
  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    if (this.#length > MAX_BODY_BYTES) throw bodyTooLarge();
    this.#chunks.push(chunk);
  }

  /** Returns the whole body. */
  bytes(): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return whole;
  }
}

/** Returns the error for a body over {@link MAX_BODY_BYTES}. */
export function bodyTooLarge(): InvalidResponseError {
  const message = `The response body is over ${MAX_BODY_BYTES} bytes; check that the base URL is an evaluation service.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-size" });
}

const utf8 = new TextDecoder();

/** Returns the text of a whole body: UTF-8, without a byte order mark. */
export function decodeText(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
