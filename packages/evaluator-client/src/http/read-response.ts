import { collectBody } from "./collect-body.ts";
import { isSuccess, type HttpResponse } from "./http-client.ts";

/** A response whose head is there and whose body is still to be read. */
export interface ResponseHead {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Undoes the content encoding. */
  readonly decode: (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;
}

/** Reads the body of a response to its end. */
export async function readResponse({
  status,
  header,
  chunks,
  decode,
}: ResponseHead): Promise<HttpResponse> {
  const readText = async () => new TextDecoder().decode(await decode(await collectBody(chunks)));
  // An error status says enough by itself, so a broken body does not hide it.
  const text = isSuccess(status) ? await readText() : await readText().catch(() => "");
  return { status, header, text };
}
