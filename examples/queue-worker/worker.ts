import { boolean, type Evaluator, EvaluatorError, score } from "evaluator-client";

/** A message of the queue. */
interface Message {
  readonly id: string;
  readonly text: string;
}

/** The methods of a queue; any queue service has them. */
interface Queue {
  /** Yields messages until the queue is closed; each is reserved for this worker. */
  receive(): AsyncIterable<Message>;
  /** The message is done, and this came of it. */
  done(message: Message, result: { urgency: number; isSpam: boolean }): Promise<void>;
  /** The message is given out again later. */
  later(message: Message): Promise<void>;
  /** The message goes aside, for a person. */
  aside(message: Message, why: string): Promise<void>;
}

const questions = {
  urgency: score("How soon does this message need an answer?", [
    "never: needs no answer",
    "this week: an answer within some days is fine",
    "today: money, safety or a deadline is at stake",
  ]),
  spam: boolean("Is this message spam?"),
};

/** Works on messages, many at once, until the queue is closed or the signal aborts; loses none. */
export async function runWorker(
  queue: Queue,
  { evaluator, signal }: { evaluator: Evaluator; signal: AbortSignal },
): Promise<void> {
  const taken = new Map<number, Message>();
  async function* requests() {
    let index = 0;
    for await (const message of queue.receive()) {
      taken.set(index, message);
      index += 1;
      yield { state: { message: message.text }, questions };
    }
  }
  // A small read-ahead, because read messages are reserved. Completion order, so one slow call
  // delays no other.
  const options = { concurrency: 8, readAhead: 16, order: "completion", signal } as const;
  try {
    for await (const item of evaluator.evaluateMany(requests(), options)) {
      const message = taken.get(item.index) as Message;
      if (item.status === "succeeded") {
        const { urgency, spam } = item.evaluation.answers;
        const isSpam = spam.probability > 0.5;
        await queue.done(message, { urgency: urgency.score, isSpam });
      } else if (item.error instanceof EvaluatorError && item.error.isRetryable) {
        await queue.later(message);
      } else {
        await queue.aside(message, item.error.name);
      }
      taken.delete(item.index);
    }
  } finally {
    // Unfinished messages are returned to the queue, whatever ended the loop.
    for (const message of taken.values()) await queue.later(message);
  }
}
