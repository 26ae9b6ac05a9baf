import type { Keep } from "./planted-key.ts";

/** Keeps the head of a response now and its body as it comes, and gives it on as it was. */
export function keepResponse(response: Response, keep: Keep): Response {
  keep([response.status, ...response.headers]);
  if (response.body === null) return response;
  const decoder = new TextDecoder();
  let text = "";
  keep(() => text);
  const passing = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>(
    {
      transform(bytes, controller) {
        text += decoder.decode(bytes, { stream: true });
        controller.enqueue(bytes);
      },
    },
    undefined,
    { highWaterMark: Infinity }, // a body that a test does not read is kept as well
  );
  return new Response(response.body.pipeThrough(passing), response);
}
