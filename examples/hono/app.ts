import { choice, createEvaluator, type Evaluator } from "evaluator-client";
import { budget, BudgetError } from "evaluator-client/budget";
import { cache } from "evaluator-client/cache";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";

const questions = {
  team: choice("Which team should answer this message?", {
    billing: "invoices, payments, refunds, prices",
    technical: "something does not work, or how something is done",
    sales: "wants to buy, or to buy more",
    nobody: "thanks, advertisement, or nothing to answer",
  }),
};

/**
 * Makes an app that returns the team for a message, for at most five dollars a day, and evaluates
 * each message once.
 */
export function createApp(evaluator: Evaluator = createEvaluator()): Hono {
  const spared = cache({ maxEntries: 10_000 });
  const frugal = evaluator.with(budget({ maxCostUsd: 5, spanMs: 24 * 3600 * 1000 })).with(spared);
  const app = new Hono();

  app.post("/team", bodyLimit({ maxSize: 64 * 1024 }), async (context) => {
    const message = await context.req.text();
    if (message.trim() === "") return context.json({ error: "Send the message as text." }, 400);
    const { signal } = context.req.raw;
    const { answers, confidence } = await frugal.evaluate(
      { state: { message }, questions },
      { signal, deadlineMs: 10_000 },
    );
    const { choice: team, probabilities } = answers.team;
    // If two teams are almost equally likely, a person decides.
    const isSure = probabilities[team] >= 0.6;
    return context.json({ team: isSure ? team : "person", confidence: confidence.team });
  });

  app.get("/savings", (context) => context.json(spared.savings));

  app.onError((error, context) => {
    const status = error instanceof BudgetError ? 503 : 502;
    return context.json({ team: "person", error: error.name }, status);
  });

  return app;
}
