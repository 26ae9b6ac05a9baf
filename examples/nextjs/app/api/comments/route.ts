import { boolean, choice, createEvaluator, RateLimitError } from "evaluator-client";

const questions = {
  topic: choice("What is the comment about?", {
    product: "the product, or how to use it",
    order: "an order, its delivery or a refund",
    other: "none of the above",
  }),
  insult: boolean("Does the comment insult a person or a group?"),
};

// One for all requests, since it keeps connections and pace. It needs its key at the first call, not for a build.
const evaluator = createEvaluator();

/** Answers POST /api/comments: whether a comment may appear at once, or waits for a person. */
export async function POST(request: Request): Promise<Response> {
  const body: unknown = await request.json().catch(() => null);
  const text = (body as { text?: unknown } | null)?.text;
  if (typeof text !== "string" || text === "" || text.length > 20_000) {
    return Response.json({ error: "Send { text } of 1 to 20,000 characters." }, { status: 400 });
  }
  try {
    const { answers } = await evaluator.evaluate(
      { state: { comment: text }, questions },
      // A visitor waits: rather a person looks later than that this takes a minute.
      { signal: request.signal, deadlineMs: 5_000 },
    );
    const isHeld = answers.insult.probability > 0.3;
    return Response.json({ status: isHeld ? "held" : "shown", topic: answers.topic.choice });
  } catch (error) {
    request.signal.throwIfAborted();
    // No answer is no permission.
    const status = error instanceof RateLimitError ? 503 : 502;
    return Response.json({ status: "held", topic: null }, { status });
  }
}
