import { type CalibrationArtifact, decide, toAnswerRecord } from "evaluator-calibration";
import { boolean, type Evaluator, EvaluatorError, score } from "evaluator-client";

/** The result for one message. */
interface Result {
  readonly urgency: number;
  /** `yes` or `no` if the calibration promises it; null for a person. */
  readonly spam: string | null;
  /** The line to keep of its answers: later labels need it. */
  readonly record: object;
}

/** A message of the queue. */
interface Message {
  readonly id: string;
  readonly text: string;
}

/** The methods of a queue; any queue service has them. */
interface Queue {
  /** Yields messages until the queue is closed; each is reserved for this worker. */
  receive(): AsyncIterable<Message>;
  /** The message is done, with this result. */
  done(message: Message, result: Result): Promise<void>;
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

interface WorkerOptions {
  readonly evaluator: Evaluator;
  readonly signal: AbortSignal;
  /** Made by `evaluator-cli calibrate`; null before there are labels. */
  readonly artifact: CalibrationArtifact | null;
}

/** Works on messages, many at once, until the queue is closed or the signal aborts; loses none. */
export async function runWorker(
  queue: Queue,
  { evaluator, signal, artifact }: WorkerOptions,
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
        const { evaluation } = item;
        const { spam } = artifact === null ? {} : decide(evaluation, artifact, { questions });
        const record = toAnswerRecord(message.id, evaluation, questions);
        const urgency = evaluation.answers.urgency.score;
        await queue.done(message, { urgency, spam: spam?.act ?? null, record });
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
