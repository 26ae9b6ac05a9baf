import type { Answer, Call, MessageRouter } from "../chat/message-router.ts";
import type { Decision } from "../decision/decision.ts";
import type { ReplyPrompt, TextCall } from "../reply/ask-for-text.ts";

/** A reply on its way, once its first words or its end are known. */
export interface OpenedReply {
  /** The decision that holds, the fallback's included. */
  readonly decision: Decision;
  readonly deltas: ReadableStream<string>;
  readonly answer: Promise<Answer>;
}

/** What a reply is opened with. */
export interface OpenReplyOptions {
  readonly decision: Decision;
  readonly prompt: ReplyPrompt;
  readonly settings: TextCall["settings"];
  readonly call: Call;
}

/**
 * Asks for a reply and waits for its first piece: until then the status and the headers are open,
 * and a failure can still be a failed response.
 */
export async function openReply(
  router: MessageRouter,
  { decision, prompt, settings, call }: OpenReplyOptions,
): Promise<OpenedReply> {
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const begun = Promise.withResolvers<void>();
  let current = decision;
  const answer = router.reply(decision, prompt, {
    ...call,
    settings,
    onFallback: (changed) => (current = changed),
    onDelta: (delta) => {
      begun.resolve();
      return writer.write(delta);
    },
  });
  void answer
    .then(
      () => writer.close(),
      (error: unknown) => writer.abort(error),
    )
    .catch(() => undefined); // the reader hears of it
  await Promise.race([begun.promise, answer]);
  return { decision: current, deltas: readable, answer };
}
