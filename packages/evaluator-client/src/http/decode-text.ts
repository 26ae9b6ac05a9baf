const utf8 = new TextDecoder();

/** The text of a whole body: UTF-8, without a byte order mark. */
export function decodeText(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
