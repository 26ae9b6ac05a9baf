import { Hono, type MiddlewareHandler } from "hono";
import type { MessageRouter } from "../chat/message-router.ts";
import type { ClientEnv } from "../routes/client-env.ts";
import { chatCompletionsRoute } from "./chat-completions-route.ts";
import { modelsRoute } from "./models-route.ts";

/** What the door is made of. */
export interface OpenAiDoorParts {
  readonly router: MessageRouter;
  /** What every request that asks a model passes first. */
  readonly asksModel: readonly [
    MiddlewareHandler,
    MiddlewareHandler,
    MiddlewareHandler<ClientEnv>,
    MiddlewareHandler,
  ];
  readonly reportDefect: (error: Error) => void;
}

/** The router for programs that speak OpenAI's chat API. */
export function openAiDoor(parts: OpenAiDoorParts): Hono<ClientEnv> {
  const { router, asksModel, reportDefect } = parts;
  const door = new Hono<ClientEnv>();
  door.get("/models", modelsRoute);
  door.post("/chat/completions", ...asksModel, chatCompletionsRoute(router, reportDefect));
  return door;
}
