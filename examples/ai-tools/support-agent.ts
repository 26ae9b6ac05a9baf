import { generateText, jsonSchema, type LanguageModel, stepCountIs, tool } from "ai";
import { boolean, type Evaluator } from "evaluator-client";
import { gate } from "evaluator-client/gate";

const questions = {
  asked: boolean("Does the user's message ask for exactly this tool call?"),
  harmful: boolean("Would this tool call harm the user or somebody else?"),
};

interface AgentOptions {
  readonly model: LanguageModel;
  readonly evaluator: Evaluator;
  /** Pays money back. */
  readonly refund: (order: string) => Promise<string>;
  readonly log: (line: string) => void;
}

/** Answers a message; a refund runs only if the gate approves it, and else waits for a person. */
export async function answer(message: string, { model, evaluator, refund, log }: AgentOptions) {
  const mayRun = gate(evaluator, {
    questions,
    approve: { asked: { is: "yes", atLeast: 0.9 }, harmful: { is: "no", atLeast: 0.9 } },
    log,
  });
  const { text, content } = await generateText({
    model,
    prompt: message,
    stopWhen: stepCountIs(3),
    tools: {
      refund: tool({
        description: "Pays the price of an order back.",
        inputSchema: jsonSchema<{ order: string }>({
          type: "object",
          properties: { order: { type: "string" } },
          required: ["order"],
        }),
        execute: ({ order }) => refund(order),
      }),
    },
    toolApproval: async ({ toolCall }) => {
      const call = { tool: toolCall.toolName, input: toolCall.input, context: { message } };
      const { status, reason } = await mayRun(call);
      return { type: status === "undecided" ? "user-approval" : status, reason };
    },
  });
  // An approved or denied call has a request too, which is automatic.
  const waiting = content.filter(
    (part) => part.type === "tool-approval-request" && !part.isAutomatic,
  );
  return { text, waiting: waiting.length };
}
