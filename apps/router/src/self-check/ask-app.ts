import type { createApp } from "../create-app.ts";
import type { ChatAnswer } from "./find-failures.ts";

/** Sends a message through the application's own `POST /chat`, without a port. */
export async function askApp(
  app: ReturnType<typeof createApp>,
  message: string,
): Promise<ChatAnswer> {
  const response = await app.request("http://localhost/chat", {
    method: "POST",
    headers: { host: "localhost", "content-type": "application/json" },
    body: JSON.stringify({ message }),
  });
  return (await response.json()) as ChatAnswer;
}
